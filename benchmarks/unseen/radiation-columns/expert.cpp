// Exponentials as vectors along the layers; 16 columns at a time are transposed, so that the two recurrences,
// which are serial along a column, run as vectors across columns.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

// math.h offers it only under -ffast-math; the vector form is the same one.
#pragma omp declare simd notinbranch
extern "C" float expf(float) noexcept;

namespace {
constexpr int kWide = 16;
}  // namespace

extern "C" void radiation_columns(const float* depth, const float* emission, const float* albedo, const float* surface,
                                  float* down, float* up, float top, int columns, int layers) {
#pragma omp parallel
    {
        std::vector<float> passes_(layers * kWide), gains_(layers * kWide), flux_((layers + 1) * kWide);
        std::vector<float> row_(layers);
        float *passes = passes_.data(), *gains = gains_.data(), *flux = flux_.data(), *row = row_.data();
        // from [layer][column] to the columns' own rows
        auto leave = [&](float* to, int first, int count) {
            for (int c = 0; c < count; ++c) {
                float* at = to + (size_t)(first + c) * (layers + 1);
                for (int l = 0; l <= layers; ++l) at[l] = flux[l * kWide + c];
            }
        };
#pragma omp for schedule(static)
        for (int first = 0; first < columns; first += kWide) {
            const int count = std::min(kWide, columns - first);
            for (int c = 0; c < count; ++c) {
                const float *tau = depth + (size_t)(first + c) * layers, *emits = emission + (size_t)(first + c) * layers;
#pragma omp simd
                for (int l = 0; l < layers; ++l) row[l] = expf(-1.66f * tau[l]);
                for (int l = 0; l < layers; ++l) {
                    passes[l * kWide + c] = row[l];
                    gains[l * kWide + c] = emits[l] * (1.0f - row[l]);
                }
            }
            float now[kWide] = {};
            std::fill(now, now + kWide, top);
            std::copy(now, now + kWide, flux);
            for (int l = 0; l < layers; ++l) {
#pragma omp simd
                for (int c = 0; c < kWide; ++c) {
                    now[c] = now[c] * passes[l * kWide + c] + gains[l * kWide + c];
                    flux[(l + 1) * kWide + c] = now[c];
                }
            }
            leave(down, first, count);
            for (int c = 0; c < count; ++c) {
                now[c] = albedo[first + c] * now[c] + (1.0f - albedo[first + c]) * surface[first + c];
            }
            std::copy(now, now + kWide, flux + layers * kWide);
            for (int l = layers - 1; l >= 0; --l) {
#pragma omp simd
                for (int c = 0; c < kWide; ++c) {
                    now[c] = now[c] * passes[l * kWide + c] + gains[l * kWide + c];
                    flux[l * kWide + c] = now[c];
                }
            }
            leave(up, first, count);
        }
    }
}
