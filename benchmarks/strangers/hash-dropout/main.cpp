#include <cstdint>
#include <cstdio>
#include <vector>

void apply_dropout(std::vector<float>& values, std::vector<std::uint8_t>& mask, float p, std::uint32_t seed);

int main() {
    for (float p : {0.0f, 0.3f, 1.0f})
        for (int n : {0, 1, 3000}) {
            std::vector<float> x(n, 1.25f);
            std::vector<std::uint8_t> mask(7, 9);
            apply_dropout(x, mask, p, 12345u);
            double sum = 0;
            unsigned kept = mask.size();
            for (int i = 0; i < n; ++i) sum += x[i] * (i % 7 + 1.0), kept = kept * 31 + mask[i];
            std::printf("%.3f %u\n", sum, kept);
        }
}
