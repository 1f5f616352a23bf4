#include <cmath>
#include <vector>

// out[h][i] = sum over t <= i of p[t] * v[h][t], p = softmax over t <= i of (q[h][i] . k[h][t]) / 8
extern "C" void causal_attention(const float* q, const float* k, const float* v, float* out, int heads, int len) {
    std::vector<float> p(len);
    for (int h = 0; h < heads; ++h) {
        for (int i = 0; i < len; ++i) {
            const long long base = (long long)h * len * 64;
            const float* x = q + base + i * 64;
            float top = -INFINITY;
            for (int t = 0; t <= i; ++t) {
                float dot = 0.0f;
                for (int d = 0; d < 64; ++d) dot += x[d] * k[base + t * 64 + d];
                p[t] = dot * 0.125f;
                top = p[t] > top ? p[t] : top;
            }
            float sum = 0.0f, acc[64] = {};
            for (int t = 0; t <= i; ++t) {
                p[t] = std::exp(p[t] - top);
                sum += p[t];
                for (int d = 0; d < 64; ++d) acc[d] += p[t] * v[base + t * 64 + d];
            }
            for (int d = 0; d < 64; ++d) out[base + i * 64 + d] = acc[d] / sum;
        }
    }
}
