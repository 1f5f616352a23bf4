#include <algorithm>
#include <vector>

namespace nn {

inline float relu(float x) { return x > 0.f ? x : 0.f; }

// input  [N, C, H, W], weight [K, C, R, S], bias [K]; stride 1, same padding
void conv2d_forward(const float* input, const float* weight, const float* bias, float* output,
                    int N, int C, int H, int W, int K, int R, int S)
{
    const int pad_h = R / 2;
    const int pad_w = S / 2;
    for (int n = 0; n < N; ++n) {
        for (int k = 0; k < K; ++k) {
            for (int y = 0; y < H; ++y) {
                for (int x = 0; x < W; ++x) {
                    float acc = bias[k];
                    for (int c = 0; c < C; ++c) {
                        for (int r = 0; r < R; ++r) {
                            const int iy = y + r - pad_h;
                            if (iy < 0 || iy >= H) continue;
                            for (int s = 0; s < S; ++s) {
                                const int ix = x + s - pad_w;
                                if (ix < 0 || ix >= W) continue;
                                acc += input[((n * C + c) * H + iy) * W + ix] *
                                       weight[((k * C + c) * R + r) * S + s];
                            }
                        }
                    }
                    output[((n * K + k) * H + y) * W + x] = relu(acc);
                }
            }
        }
    }
}

void max_pool(const std::vector<float>& in, std::vector<float>& out, int H, int W)
{
    for (int y = 0; y < H / 2; ++y)
        for (int x = 0; x < W / 2; ++x)
            out[y * (W / 2) + x] = std::max(std::max(in[2 * y * W + 2 * x], in[2 * y * W + 2 * x + 1]),
                                            std::max(in[(2 * y + 1) * W + 2 * x], in[(2 * y + 1) * W + 2 * x + 1]));
}

}  // namespace nn
