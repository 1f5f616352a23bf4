// out[i] = in[0] + .. + in[i], modulo 2^64.
extern "C" void prefix_sum(const unsigned long long* in, unsigned long long* out, long long n) {
    unsigned long long sum = 0;
    for (long long i = 0; i < n; ++i) {
        sum += in[i];
        out[i] = sum;
    }
}
