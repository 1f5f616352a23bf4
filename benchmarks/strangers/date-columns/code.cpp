#include <cstddef>
#include <cstdint>

namespace calendar {

constexpr std::int32_t kInvalid = INT32_MIN;

constexpr bool isLeap(std::int32_t y) { return (y % 4 == 0 && y % 100 != 0) || y % 400 == 0; }

inline unsigned lastDay(std::int32_t y, unsigned m) {
    static const unsigned char days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return m == 2 && isLeap(y) ? 29u : days[m - 1];
}

// Returns how many rows held no date.
std::size_t daysFromCivil(const std::int16_t* years, const std::uint8_t* months, const std::uint8_t* days,
                          std::int32_t* out, std::size_t rows) {
    std::size_t invalid = 0;
    for (std::size_t row = 0; row < rows; ++row) {
        std::int32_t y = years[row];
        const unsigned m = months[row], d = days[row];
        if (m < 1 || m > 12 || d < 1 || d > lastDay(y, m)) {
            out[row] = kInvalid;
            ++invalid;
            continue;
        }
        y -= m <= 2;
        const std::int32_t era = (y >= 0 ? y : y - 399) / 400;
        const unsigned yoe = static_cast<unsigned>(y - era * 400);
        const unsigned doy = (153 * (m > 2 ? m - 3 : m + 9) + 2) / 5 + d - 1;
        const unsigned doe = yoe * 365 + yoe / 4 - yoe / 100 + doy;
        out[row] = era * 146097 + static_cast<std::int32_t>(doe) - 719468;
    }
    return invalid;
}

}  // namespace calendar
