#include <cstddef>

// The Walsh-Hadamard transform (not scaled) of each of `batch` rows of 1024 elements, in place.
extern "C" void walsh_hadamard(float* data, int batch) {
    for (int b = 0; b < batch; ++b) {
        float* row = data + (size_t)b * 1024;
        for (int h = 1; h < 1024; h *= 2) {
            for (int i = 0; i < 1024; i += 2 * h) {
                for (int j = i; j < i + h; ++j) {
                    const float p = row[j], q = row[j + h];
                    row[j] = p + q;
                    row[j + h] = p - q;
                }
            }
        }
    }
}
