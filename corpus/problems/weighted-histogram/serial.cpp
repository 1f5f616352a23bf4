// sums[b] = sum of the weights[i] with keys[i] = b, modulo 2^32; there are at most 100,000 bins.
extern "C" void weighted_histogram(const int* keys, const unsigned* weights, unsigned* sums, int n,
                                   int bins) {
    for (int b = 0; b < bins; ++b) {
        sums[b] = 0;
    }
    for (int i = 0; i < n; ++i) {
        sums[keys[i]] += weights[i];
    }
}
