// out[2 * i] and out[2 * i + 1] = book[low and high half of code[i]] * scale[i / 32]
extern "C" void codebook_dequantize(const unsigned char* code, const float* scale, const float* book, float* out, int blocks) {
    for (int b = 0; b < blocks; ++b) {
        for (int i = 0; i < 32; ++i) {
            const unsigned char c = code[(long long)b * 32 + i];
            out[(long long)b * 64 + 2 * i] = book[c & 15] * scale[b];
            out[(long long)b * 64 + 2 * i + 1] = book[c >> 4] * scale[b];
        }
    }
}
