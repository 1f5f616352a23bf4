void conv2d_forward(const float* input, const float* weight, const float* bias, float* output,
                    int N, int C, int H, int W, int K, int R, int S)
{
    const int pad_h = R / 2;
    const int pad_w = S / 2;
    #pragma omp parallel for collapse(3)
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
                    output[((n * K + k) * H + y) * W + x] = acc;
                }
            }
        }
    }
}
