// out = the sum of squares of k x k pixels, for each place where such a patch fits.
extern "C" void patch_energy(const short* in, long long* out, int rows, int cols, int k) {
    for (int y = 0; y + k <= rows; ++y) {
        for (int x = 0; x + k <= cols; ++x) {
            const short* corner = in + y * cols + x;
            long long sum = 0;
            for (int b = 0; b < k; ++b) {
                for (int a = 0; a < k; ++a) {
                    sum += corner[b * cols + a] * corner[b * cols + a];
                }
            }
            out[y * (cols - k + 1) + x] = sum;
        }
    }
}
