#include <cstddef>
#include <vector>

// out = sum over layers, front first, of the layer's RGBA times what the layers before let through.
extern "C" void blend_layers(const float* image, float* out, int n, int layers) {
    std::vector<float> through(n, 1.0f);
    for (size_t i = 0; i < 4 * (size_t)n; ++i) {
        out[i] = 0.0f;
    }
    for (int l = 0; l < layers; ++l) {
        const float* layer = image + 4 * (size_t)l * n;
        for (int p = 0; p < n; ++p) {
            for (int c = 0; c < 4; ++c) {
                out[4 * (size_t)p + c] += through[p] * layer[4 * (size_t)p + c];
            }
            through[p] *= 1.0f - layer[4 * (size_t)p + 3];
        }
    }
}
