#include <array>
#include <cstdio>
#include <vector>

std::array<int, 128> histogram(const std::vector<float>& data, float lo, float hi);

int main() {
    for (std::size_t n : {0, 1, 100, 40000}) {
        std::vector<float> x(n);
        unsigned s = 3;
        for (float& v : x) s = s * 1664525u + 1013904223u, v = (s >> 8) / 4194304.0f - 1.0f;
        const auto bins = histogram(x, 0.0f, 2.5f);
        long sum = 0;
        for (int b = 0; b < 128; ++b) sum += (long)bins[b] * (b + 1);
        std::printf("%zu: %ld %d %d\n", n, sum, bins[0], bins[127]);
    }
}
