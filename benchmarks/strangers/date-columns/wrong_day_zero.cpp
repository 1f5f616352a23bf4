std::size_t daysFromCivil(const std::int16_t* years, const std::uint8_t* months, const std::uint8_t* days,
                          std::int32_t* out, std::size_t rows) {
    std::size_t invalid = 0;
#pragma omp parallel for schedule(static) reduction(+ : invalid)
    for (std::size_t row = 0; row < rows; ++row) {
        std::int32_t y = years[row];
        const unsigned m = months[row], d = days[row];
        if (m - 1u > 11u || d > lastDay(y, m)) {
            out[row] = kInvalid;
            ++invalid;
            continue;
        }
        y -= m <= 2;
        const std::int32_t era = (y >= 0 ? y : y - 399) / 400;
        const unsigned yoe = static_cast<unsigned>(y - era * 400);
        const unsigned doy = (153 * ((m + 9) % 12) + 2) / 5 + d - 1;
        out[row] = era * 146097 + static_cast<std::int32_t>(yoe * 365 + yoe / 4 - yoe / 100 + doy) - 719468;
    }
    return invalid;
}
