// The positive elements of in[0..n-1] go to the front of out, in their order; count[0] = how many.
extern "C" void stable_compaction(const float* in, float* out, int* count, int n) {
    int kept = 0;
    for (int i = 0; i < n; ++i) {
        if (in[i] > 0.0f) {
            out[kept] = in[i];
            ++kept;
        }
    }
    count[0] = kept;
}
