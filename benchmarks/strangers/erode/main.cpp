#include <cstdio>
#include <vector>

namespace morphology {
std::vector<bool> erode(const std::vector<bool>& mask, int w, int h, int radius);
}

int main() {
    const int w = 61, h = 47;
    std::vector<bool> mask(w * h);
    for (int i = 0; i < w * h; ++i) mask[i] = i * 7919 % 1009 > 60;
    for (int r : {0, 1, 3}) {
        const std::vector<bool> out = morphology::erode(mask, w, h, r);
        unsigned sum = 0, set = 0;
        for (bool b : out) sum = sum * 31 + b, set += b;
        std::printf("%u %u\n", set, sum);
    }
}
