// hist[b] = how many of the n keys equal b.
extern "C" void histogram(const unsigned char* keys, int* hist, int n) {
    for (int b = 0; b < 256; ++b) {
        hist[b] = 0;
    }
    for (int i = 0; i < n; ++i) {
        hist[keys[i]] += 1;
    }
}
