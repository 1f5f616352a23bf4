#include <cmath>

// One AdamW step: moving means m and v of the gradient and its square, corrected for `steps` steps so far.
extern "C" void adam_update(float* param, const float* grad, float* m, float* v, float rate, float decay, int n, int steps) {
    for (int i = 0; i < n; ++i) {
        const float first = 1.0f - std::pow(0.875f, (float)steps);
        const float second = 1.0f - std::pow(0.9990234375f, (float)steps);
        m[i] = 0.875f * m[i] + 0.125f * grad[i];
        v[i] = 0.9990234375f * v[i] + 0.0009765625f * grad[i] * grad[i];
        const float mean = m[i] / first;
        const float square = v[i] / second;
        param[i] -= rate * (mean / (std::sqrt(square) + 1e-8f) + decay * param[i]);
    }
}
