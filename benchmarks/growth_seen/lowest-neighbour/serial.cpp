// out[i] = the smallest of x[i - radius .. i + radius], as far as they exist.
extern "C" void lowest_neighbour(const int* x, int* out, int n, int radius) {
    for (int i = 0; i < n; i++) {
        int best = x[i];
        for (int d = -radius; d <= radius; d++) {
            if (i + d >= 0 && i + d < n && x[i + d] < best) {
                best = x[i + d];
            }
        }
        out[i] = best;
    }
}
