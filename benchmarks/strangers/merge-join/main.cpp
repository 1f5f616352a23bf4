#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <vector>

struct MergeJoin {
    static size_t Run(const std::vector<int32_t>&, const std::vector<int32_t>&, std::vector<uint32_t>&,
                      std::vector<uint32_t>&);
};

int main() {
    for (int n : {0, 1, 4000}) {
        std::vector<int32_t> a, b;
        for (int i = 0; i < n; ++i) a.push_back(i * 3 / 4), b.push_back(i / 3 * 2);
        std::vector<uint32_t> x(3, 9u), y;
        const size_t rows = MergeJoin::Run(a, b, x, y);
        unsigned sum = 0;
        for (size_t i = 0; i < rows; ++i) sum = sum * 31 + x[i] * 7 + y[i];
        std::printf("%zu %zu %zu %u\n", rows, x.size(), y.size(), sum);
    }
}
