// out[i, j] = Hamming distance of row i of a and row j of b, eight 32-bit words each.
extern "C" void hamming_matrix(const unsigned* a, const unsigned* b, unsigned short* out, int n, int m) {
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < m; ++j) {
            int bits = 0;
            for (int w = 0; w < 8; ++w) {
                bits += __builtin_popcount(a[8L * i + w] ^ b[8L * j + w]);
            }
            out[(long)i * m + j] = bits;
        }
    }
}
