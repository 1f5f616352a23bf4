#include <cstddef>
#include <cstdio>
#include <vector>

void quantize_rows_i8(const float *in, size_t rows, size_t cols, signed char *out, float *scales, int *row_sums);

int main() {
    for (size_t rows : {0, 1, 40}) {
        const size_t cols = 53;
        std::vector<float> in(rows * cols), scales(rows);
        std::vector<signed char> out(rows * cols);
        std::vector<int> sums(rows);
        for (size_t i = 0; i < in.size(); ++i) in[i] = i / cols == 3 ? 0.0f : i * 7919 % 1009 / 100.9f - 5.0f;
        quantize_rows_i8(in.data(), rows, cols, out.data(), scales.data(), sums.data());
        long sum = 0;
        double all = 0;
        for (size_t i = 0; i < out.size(); ++i) sum += out[i] * long(i % 7 + 1);
        for (size_t r = 0; r < rows; ++r) sum += sums[r] * 3, all += scales[r];
        std::printf("%ld %.6f\n", sum, all);
    }
}
