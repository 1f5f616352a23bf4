#include <float.h>
#include <math.h>
#include <stddef.h>

static signed char saturate(long v) { return v > 127 ? 127 : v < -127 ? -127 : (signed char)v; }

void quantize_rows_i8(const float *in, size_t rows, size_t cols, signed char *out, float *scales,
                      int *row_sums) {
    const float *src = in;
    signed char *dst = out;
    for (size_t r = 0; r < rows; r++) {
        float amax = FLT_MIN;
        for (size_t c = 0; c < cols; c++)
            if (fabsf(src[c]) > amax) amax = fabsf(src[c]);
        const float inverse = 127.0f / amax;
        int sum = 0;
        for (size_t c = 0; c < cols; c++) {
            dst[c] = saturate(lrintf(src[c] * inverse));
            sum += dst[c];
        }
        scales[r] = amax / 127.0f;
        row_sums[r] = sum;
        src += cols;
        dst += cols;
    }
}
