#include <cstdint>

namespace EmbeddingBag {

enum class Mode : int { Sum = 0, Mean = 1 };

// Adds to grad_weight[rows x dim] what each bag's gradient gives to the rows it looked up.
void backward(const float* grad_out, const int32_t* indices, const int32_t* offsets, int bags, int dim,
              int mode, int padding_idx, float* grad_weight) {
    for (int bag = 0; bag < bags; ++bag) {
        const auto first = offsets[bag], last = offsets[bag + 1];
        int used = 0;
        for (auto p = first; p < last; ++p)
            if (indices[p] != padding_idx) ++used;
        if (used == 0) continue;
        const float scale = static_cast<Mode>(mode) == Mode::Mean ? 1.0f / used : 1.0f;
        const float* g = &grad_out[bag * dim];
        for (auto p = first; p < last; ++p) {
            if (indices[p] == padding_idx) continue;
            float* row = &grad_weight[static_cast<int64_t>(indices[p]) * dim];
            for (int d = 0; d < dim; ++d) row[d] += scale * g[d];
        }
    }
}

}  // namespace EmbeddingBag
