#include <cstdint>
#include <cstdio>
#include <vector>

void sort_by_key(std::vector<uint32_t>& keys, std::vector<float>& values);

int main() {
    for (size_t n : {0, 1, 2, 1000, 50000}) {
        std::vector<uint32_t> keys(n);
        std::vector<float> values(n);
        uint32_t s = 7;
        for (size_t i = 0; i < n; ++i) {
            s = s * 1664525u + 1013904223u;
            keys[i] = (s >> 8) % 1000;
            values[i] = (float)i;
        }
        sort_by_key(keys, values);
        double sum = 0;
        for (size_t i = 0; i < n; ++i) sum += (double)(i % 97) * values[i] + keys[i];
        std::printf("%zu: %.3f\n", n, sum);
    }
}
