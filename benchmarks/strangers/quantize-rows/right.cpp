void quantize_rows_i8(const float *in, size_t rows, size_t cols, signed char *out, float *scales,
                      int *row_sums) {
#pragma omp parallel for schedule(static)
    for (size_t r = 0; r < rows; r++) {
        const float *src = in + r * cols;
        signed char *dst = out + r * cols;
        float amax = FLT_MIN;
        for (size_t c = 0; c < cols; c++) amax = fmaxf(amax, fabsf(src[c]));
        const float inverse = 127.0f / amax;
        int sum = 0;
        for (size_t c = 0; c < cols; c++) sum += dst[c] = saturate(lrintf(src[c] * inverse));
        scales[r] = amax / 127.0f;
        row_sums[r] = sum;
    }
}
