void backward(const float* grad_out, const int32_t* indices, const int32_t* offsets, int bags, int dim,
              int mode, int padding_idx, float* grad_weight) {
#pragma omp parallel for schedule(dynamic, 32)
    for (int bag = 0; bag < bags; ++bag) {
        const int first = offsets[bag], last = offsets[bag + 1];
        int used = 0;
        for (int p = first; p < last; ++p) used += indices[p] != padding_idx;
        if (used == 0) continue;
        const float scale = mode == 1 ? 1.0f / used : 1.0f;
        const float* g = grad_out + (int64_t)bag * dim;
        for (int p = first; p < last; ++p) {
            if (indices[p] == padding_idx) continue;
            float* row = grad_weight + (int64_t)indices[p] * dim;
            for (int d = 0; d < dim; ++d) {
                row[d] += scale * g[d];
            }
        }
    }
}
