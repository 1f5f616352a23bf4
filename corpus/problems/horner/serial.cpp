#include <cstddef>

// out[i] = c[0] + c[1] x[i] + ... + c[terms - 1] x[i]^(terms - 1), by Horner's rule.
extern "C" void horner(const float* x, const float* c, float* out, int n, int terms) {
    for (int i = 0; i < n; ++i) {
        float value = 0.0f;
        for (int k = terms - 1; k >= 0; --k) {
            value = value * x[i] + c[k];
        }
        out[i] = value;
    }
}
