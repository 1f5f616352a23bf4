#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <vector>

std::int64_t countTriangles(const std::vector<std::uint32_t>& offsets,
                            const std::vector<std::uint32_t>& neighbours);

int main() {
    for (unsigned n : {0u, 1u, 5u, 400u}) {
        std::vector<std::uint32_t> rows{0}, cols;
        for (unsigned u = 0; u < n; ++u) {
            for (unsigned v = 0; v < n; ++v)
                if (u != v && (u + v) * 7919 % 101 < 30) cols.push_back(v);
            rows.push_back(cols.size());
        }
        std::printf("%lld\n", (long long)countTriangles(rows, cols));
    }
}
