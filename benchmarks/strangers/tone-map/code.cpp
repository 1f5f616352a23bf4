#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

struct RGB {
    float r, g, b;
};

static inline float luminance(const RGB& c) { return 0.2126f * c.r + 0.7152f * c.g + 0.0722f * c.b; }

static std::uint8_t encode(float v) {
    const float gamma = std::pow(std::clamp(v, 0.0f, 1.0f), 1.0f / 2.2f);
    return static_cast<std::uint8_t>(gamma * 255.0f + 0.5f);
}

void tonemap(const std::vector<RGB>& hdr, std::vector<std::uint8_t>& ldr, float key) {
    double logSum = 0.0;
    for (const auto& pixel : hdr) logSum += std::log(1e-4f + std::fabs(luminance(pixel)));
    const float scale = hdr.empty() ? 1.0f : key / std::exp(static_cast<float>(logSum / hdr.size()));

    ldr.resize(hdr.size() * 3);
    std::size_t at = 0;
    for (const auto& [r, g, b] : hdr) {
        const float l = scale * luminance({r, g, b});
        const float ratio = scale / (1.0f + std::fabs(l));
        ldr[at++] = encode(r * ratio);
        ldr[at++] = encode(g * ratio);
        ldr[at++] = encode(b * ratio);
    }
}
