// out[i] = values[h] + .. + values[i] modulo 2^32, where h is the last h <= i with flags[h] != 0, else 0.
extern "C" void segmented_scan(const unsigned* values, const unsigned char* flags, unsigned* out, int n) {
    unsigned sum = 0;
    for (int i = 0; i < n; ++i) {
        if (flags[i]) {
            sum = 0;
        }
        sum += values[i];
        out[i] = sum;
    }
}
