// out[i] = how many of load[i - radius .. i + radius] are above limit; samples outside do not count.
extern "C" void busy_counts(const int* load, int* out, int limit, int n, int radius) {
    for (int i = 0; i < n; ++i) {
        int count = 0;
        for (int d = -radius; d <= radius; ++d) {
            const int j = i + d;
            if (j < 0 || j >= n) continue;
            if (load[j] > limit) ++count;
        }
        out[i] = count;
    }
}
