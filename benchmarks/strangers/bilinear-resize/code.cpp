#include <algorithm>
#include <cstdint>

struct Extent {
    int width, height;
};

enum Channel { RED, GREEN, BLUE, NUM_CHANNELS };

namespace Image {

template <typename T>
inline T lerp(T a, T b, T t) {
    return a + (b - a) * t;
}

void resize(const std::uint8_t* src, const Extent& in, std::uint8_t* dst, const Extent& out) {
    const float sx = static_cast<float>(in.width) / out.width;
    const float sy = static_cast<float>(in.height) / out.height;
    for (int y = 0; y < out.height; ++y) {
        const float fy = std::max(0.0f, (y + 0.5f) * sy - 0.5f);
        const int y0 = std::min(static_cast<int>(fy), in.height - 1), y1 = std::min(y0 + 1, in.height - 1);
        for (int x = 0; x < out.width; ++x) {
            const float fx = std::max(0.0f, (x + 0.5f) * sx - 0.5f);
            const int x0 = std::min(static_cast<int>(fx), in.width - 1), x1 = std::min(x0 + 1, in.width - 1);
            for (int c = RED; c < NUM_CHANNELS; ++c) {
                const auto at = [&](int px, int py) -> float {
                    return src[(py * in.width + px) * NUM_CHANNELS + c];
                };
                const float top = lerp(at(x0, y0), at(x1, y0), fx - x0);
                const float bottom = lerp(at(x0, y1), at(x1, y1), fx - x0);
                dst[(y * out.width + x) * NUM_CHANNELS + c] =
                    static_cast<std::uint8_t>(lerp(top, bottom, fy - y0) + 0.5f);
            }
        }
    }
}

}  // namespace Image
