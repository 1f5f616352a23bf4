// out[k] = A[i] . B[column[k]] for start[i] <= k < start[i + 1]; rows of A and B have 64 elements.
extern "C" void sampled_products(const int* start, const int* column, const float* a, const float* b,
                                 float* out, int rows, int nonzeros) {
    (void)nonzeros;
    for (int i = 0; i < rows; ++i) {
        const float* left = a + 64L * i;
        for (int k = start[i]; k < start[i + 1]; ++k) {
            const float* right = b + 64L * column[k];
            float sum = 0.0f;
            for (int f = 0; f < 64; ++f) sum += left[f] * right[f];
            out[k] = sum;
        }
    }
}
