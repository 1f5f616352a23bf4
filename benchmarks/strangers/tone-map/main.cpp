#include <cstdint>
#include <cstdio>
#include <vector>

struct RGB {
    float r, g, b;
};

void tonemap(const std::vector<RGB>& hdr, std::vector<std::uint8_t>& ldr, float key);

int main() {
    for (int n : {0, 1, 3000}) {
        std::vector<RGB> in(n);
        for (int i = 0; i < n; ++i) in[i] = {i % 7 * 0.5f, i % 11 * 0.3f, i % 13 * 0.7f};
        std::vector<std::uint8_t> out(5, 9);
        tonemap(in, out, 0.18f);
        unsigned sum = out.size();
        for (auto v : out) sum += v;
        std::printf("%u\n", sum);
    }
}
