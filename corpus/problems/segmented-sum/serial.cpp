// sums[s] = values[offsets[s]] + ... + values[offsets[s + 1] - 1], modulo 2^32.
extern "C" void segmented_sum(const unsigned* values, const int* offsets, unsigned* sums, int n,
                              int segments) {
    (void)n;
    for (int s = 0; s < segments; ++s) {
        unsigned sum = 0;
        for (int k = offsets[s]; k < offsets[s + 1]; ++k) {
            sum += values[k];
        }
        sums[s] = sum;
    }
}
