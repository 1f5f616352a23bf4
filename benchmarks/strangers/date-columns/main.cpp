#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <vector>

namespace calendar {
std::size_t daysFromCivil(const std::int16_t* years, const std::uint8_t* months, const std::uint8_t* days,
                          std::int32_t* out, std::size_t rows);
}

int main() {
    for (std::size_t n : {0, 1, 5000}) {
        std::vector<std::int16_t> y(n);
        std::vector<std::uint8_t> m(n), d(n);
        std::vector<std::int32_t> out(n);
        for (std::size_t i = 0; i < n; ++i) y[i] = int(i * 7919 % 6000) - 2000, m[i] = i * 31 % 14, d[i] = i * 17 % 33;
        const std::size_t bad = calendar::daysFromCivil(y.data(), m.data(), d.data(), out.data(), n);
        unsigned sum = 0;
        for (auto v : out) sum = sum * 31 + unsigned(v);
        std::printf("%zu %u\n", bad, sum);
    }
}
