// Longwave fluxes of atmospheric columns without scattering: downwards from the top through layers that absorb
// and emit, reflected and emitted by the surface, and back up. Layers are consecutive in memory.
#include <cmath>
#include <cstddef>
#include <vector>

extern "C" void radiation_columns(const float* depth, const float* emission, const float* albedo, const float* surface,
                                  float* down, float* up, float top, int columns, int layers) {
    std::vector<float> passes(layers);
    for (int c = 0; c < columns; ++c) {
        const float* tau = depth + (size_t)c * layers;
        const float* emits = emission + (size_t)c * layers;
        float* d = down + (size_t)c * (layers + 1);
        float* u = up + (size_t)c * (layers + 1);

        d[0] = top;
        for (int l = 0; l < layers; ++l) {
            passes[l] = std::exp(-1.66f * tau[l]);
            d[l + 1] = d[l] * passes[l] + emits[l] * (1.0f - passes[l]);
        }
        u[layers] = albedo[c] * d[layers] + (1.0f - albedo[c]) * surface[c];
        for (int l = layers - 1; l >= 0; --l) u[l] = u[l + 1] * passes[l] + emits[l] * (1.0f - passes[l]);
    }
}
