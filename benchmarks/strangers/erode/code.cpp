#include <cassert>
#include <vector>

namespace morphology {

using Mask = std::vector<bool>;

/// Erosion by a disc; what lies outside counts as background.
Mask erode(const Mask& mask, int w, int h, int radius) {
    Mask out(mask.size(), false);
    auto inside = [&](int x, int y) {
        return x >= 0 && y >= 0 && x < w && y < h && mask[y * w + x];
    };
    for (int y = 0; y < h; ++y) {
        for (int x = 0; x < w; ++x) {
            bool keep = true;
            for (int dy = -radius; dy <= radius && keep; ++dy) {
                for (int dx = -radius; dx <= radius; ++dx) {
                    if (dx * dx + dy * dy > radius * radius) continue;
                    if (!inside(x + dx, y + dy)) {
                        keep = false;
                        break;
                    }
                }
            }
            out[y * w + x] = keep;
        }
    }
    return out;
}

int count(const Mask& m) {
    int n = 0;
    for (bool b : m) n += b;
    return n;
}

}  // namespace morphology
