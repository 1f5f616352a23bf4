// Sorts the pairs of keys and values by key; pairs with equal keys keep their order.
extern "C" void counting_sort_bytes(const unsigned char* keys, const unsigned* values,
                                    unsigned char* out_keys, unsigned* out_values, int n) {
    int start[257] = {};
    for (int i = 0; i < n; ++i) {
        ++start[keys[i] + 1];
    }
    for (int k = 0; k < 256; ++k) {
        start[k + 1] += start[k];
    }
    for (int i = 0; i < n; ++i) {
        const int place = start[keys[i]]++;
        out_keys[place] = keys[i];
        out_values[place] = values[i];
    }
}
