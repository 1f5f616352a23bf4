#include <cmath>
#include <vector>

// out[h] = sum over t of p[t] * value[h][t], p = softmax over t of (q[h] . key[h][t]) / 8
extern "C" void decode_attention(const float* q, const float* key, const float* value, float* out, int heads, int len) {
    std::vector<float> p(len);
    for (int h = 0; h < heads; ++h) {
        const float* k = key + (long long)h * len * 64;
        const float* v = value + (long long)h * len * 64;
        float top = -INFINITY;
        for (int t = 0; t < len; ++t) {
            float dot = 0.0f;
            for (int d = 0; d < 64; ++d) dot += q[h * 64 + d] * k[t * 64 + d];
            p[t] = dot * 0.125f;
            top = p[t] > top ? p[t] : top;
        }
        float sum = 0.0f, acc[64] = {};
        for (int t = 0; t < len; ++t) {
            p[t] = std::exp(p[t] - top);
            sum += p[t];
            for (int d = 0; d < 64; ++d) acc[d] += p[t] * v[t * 64 + d];
        }
        for (int d = 0; d < 64; ++d) out[h * 64 + d] = acc[d] / sum;
    }
}
