// The runs of equal neighbours in in[0..n-1]: values[r], lengths[r]; count[0] = how many runs.
extern "C" void run_length_encode(const int* in, int* values, int* lengths, int* count, int n) {
    int runs = 0;
    for (int i = 0; i < n;) {
        int j = i + 1;
        while (j < n && in[j] == in[i]) {
            ++j;
        }
        values[runs] = in[i];
        lengths[runs] = j - i;
        ++runs;
        i = j;
    }
    count[0] = runs;
}
