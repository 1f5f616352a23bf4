// out[b][c][y][x] = sum over ky, kx of weight[c][ky][kx] * in[b][c][y + ky][x + kx]
extern "C" void depthwise_conv(const float* in, const float* weight, float* out, int batch, int channels, int rows, int cols) {
    const int w = cols + 2;
    for (int b = 0; b < batch; ++b) {
        for (int c = 0; c < channels; ++c) {
            const float* k = weight + c * 9;
            for (int y = 0; y < rows; ++y) {
                const float* a = in + ((long long)(b * channels + c) * (rows + 2) + y) * w;
                float* q = out + ((long long)(b * channels + c) * rows + y) * cols;
                for (int x = 0; x < cols; ++x) {
                    float sum = 0.0f;
                    for (int ky = 0; ky < 3; ++ky) {
                        for (int kx = 0; kx < 3; ++kx) sum += k[ky * 3 + kx] * a[ky * w + x + kx];
                    }
                    q[x] = sum;
                }
            }
        }
    }
}
