#include <iostream>
#include <vector>

namespace nn {
void conv2d_forward(const float* input, const float* weight, const float* bias, float* output,
                    int N, int C, int H, int W, int K, int R, int S);
}

int main()
{
    const int N = 2, C = 3, H = 30, W = 29, K = 5, R = 3, S = 3;
    std::vector<float> in(N * C * H * W), w(K * C * R * S), b(K), out(N * K * H * W);
    for (size_t i = 0; i < in.size(); ++i) in[i] = float((i * 37) % 101) / 50.f - 1.f;
    for (size_t i = 0; i < w.size(); ++i) w[i] = float((i * 13) % 29) / 29.f - 0.5f;
    for (int k = 0; k < K; ++k) b[k] = 0.1f * k;
    nn::conv2d_forward(in.data(), w.data(), b.data(), out.data(), N, C, H, W, K, R, S);
    double sum = 0;
    for (size_t i = 0; i < out.size(); ++i) sum += out[i] * (1 + i % 3);
    std::cout << "checksum " << sum << std::endl;
}
