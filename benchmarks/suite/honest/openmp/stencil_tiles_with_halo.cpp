// problem: corpus/problems/stencil
// style: each tile does all sweeps alone, with a halo as wide as there are sweeps, in thread_local scratch
#include <algorithm>
#include <cstring>
#include <vector>

namespace {
constexpr int TILE = 96;
thread_local std::vector<float> scratch[2];
}  // namespace

extern "C" void stencil(const float* in, float* out, int rows, int cols, int sweeps) {
#pragma omp parallel for collapse(2) schedule(dynamic, 1)
  for (int i0 = 0; i0 < rows; i0 += TILE)
    for (int j0 = 0; j0 < cols; j0 += TILE) {
      const int i1 = std::min(rows, i0 + TILE), j1 = std::min(cols, j0 + TILE);
      const int top = std::max(0, i0 - sweeps), left = std::max(0, j0 - sweeps);
      const int bottom = std::min(rows, i1 + sweeps), right = std::min(cols, j1 + sweeps);
      const int height = bottom - top, width = right - left;
      for (std::vector<float>& each : scratch) {
        if (each.size() < static_cast<size_t>(height) * width) each.resize(static_cast<size_t>(height) * width);
        for (int i = 0; i < height; ++i)
          memcpy(&each[static_cast<size_t>(i) * width],
                 in + static_cast<size_t>(top + i) * cols + left, width * sizeof(float));
      }
      for (int s = 1; s <= sweeps; ++s) {
        const float* from = scratch[(s - 1) % 2].data();
        float* to = scratch[s % 2].data();
        // the halo shrinks by one a sweep, but not at the grid's border, which stays as it is
        const int from_i = top == 0 ? 1 : s, to_i = bottom == rows ? height - 1 : height - s;
        const int from_j = left == 0 ? 1 : s, to_j = right == cols ? width - 1 : width - s;
        for (int i = from_i; i < to_i; ++i)
          for (int j = from_j; j < to_j; ++j) {
            const float* at = from + static_cast<size_t>(i) * width + j;
            to[static_cast<size_t>(i) * width + j] = 0.2f * (at[0] + *(at - width) + at[width] + at[-1] + at[1]);
          }
      }
      const float* last = scratch[sweeps % 2].data();
      for (int i = i0; i < i1; ++i)
        memcpy(out + static_cast<size_t>(i) * cols + j0,
               last + static_cast<size_t>(i - top) * width + (j0 - left), (j1 - j0) * sizeof(float));
    }
}
