// c[i][j] = sum over l of a[i][l] * b[j][l], in 32 bits.
extern "C" void int8_gemm(const signed char* a, const signed char* b, int* c, int m, int n, int k) {
    for (int i = 0; i < m; ++i) {
        for (int j = 0; j < n; ++j) {
            const signed char* p = a + (long long)i * k;
            const signed char* q = b + (long long)j * k;
            int sum = 0;
            for (int l = 0; l < k; ++l) sum += p[l] * q[l];
            c[(long long)i * n + j] = sum;
        }
    }
}
