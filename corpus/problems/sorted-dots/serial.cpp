// out[p] = sum of a_value * b_value where both lists of pair p have the same index; lists ascend and have no index twice.
extern "C" void sorted_dots(const int* a_index, const float* a_value, const int* b_index,
                            const float* b_value, float* out, int pairs, int length) {
    for (int p = 0; p < pairs; ++p) {
        const long base = (long)p * length;
        float sum = 0.0f;
        int i = 0, j = 0;
        while (i < length && j < length) {
            const int a = a_index[base + i], b = b_index[base + j];
            if (a < b) {
                ++i;
            } else if (b < a) {
                ++j;
            } else {
                sum += a_value[base + i++] * b_value[base + j++];
            }
        }
        out[p] = sum;
    }
}
