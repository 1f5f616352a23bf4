// out[b][o][y][x] = sum over i, ky, kx of weight[o][i][ky][kx] * in[b][i][y + ky][x + kx]
extern "C" void conv2d(const float* in, const float* weight, float* out,
                       int batch, int in_ch, int out_ch, int rows, int cols) {
    const int w = cols + 2, plane = (rows + 2) * w;
    for (int b = 0; b < batch; ++b) {
        for (int o = 0; o < out_ch; ++o) {
            for (int y = 0; y < rows; ++y) {
                float* q = out + (((long long)b * out_ch + o) * rows + y) * cols;
                for (int x = 0; x < cols; ++x) q[x] = 0.0f;
                for (int i = 0; i < in_ch; ++i) {
                    for (int ky = 0; ky < 3; ++ky) {
                        const float* a = in + ((long long)b * in_ch + i) * plane + (y + ky) * w;
                        const float* k = weight + ((o * in_ch + i) * 3 + ky) * 3;
                        for (int kx = 0; kx < 3; ++kx) {
                            for (int x = 0; x < cols; ++x) q[x] += k[kx] * a[x + kx];
                        }
                    }
                }
            }
        }
    }
}
