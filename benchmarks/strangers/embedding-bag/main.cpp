#include <cstdint>
#include <cstdio>
#include <vector>

namespace EmbeddingBag {
void backward(const float* grad_out, const int32_t* indices, const int32_t* offsets, int bags, int dim,
              int mode, int padding_idx, float* grad_weight);
}

int main() {
    const int bags = 200, dim = 16, rows = 40;
    std::vector<float> g(bags * dim), w(rows * dim, 0.5f);
    std::vector<int32_t> at, offsets{0};
    for (int b = 0; b < bags; ++b) {
        for (int k = 0; k < b % 6; ++k) at.push_back((b * 31 + k * 977) % rows);
        offsets.push_back(at.size());
    }
    for (int i = 0; i < bags * dim; ++i) g[i] = i * 7919 % 1009 / 1009.0f;
    for (int mode : {0, 1}) EmbeddingBag::backward(g.data(), at.data(), offsets.data(), bags, dim, mode, 3, w.data());
    double sum = 0;
    for (int i = 0; i < rows * dim; ++i) sum += w[i] * (i % 11 + 1.0);
    std::printf("%.3f\n", sum);
}
