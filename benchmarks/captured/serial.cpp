#include <vector>

// `steps` times: each point of a ring becomes half of itself and a quarter of each neighbour.
extern "C" void ring_steps(const float* in, float* out, int n, int steps) {
    std::vector<float> now(in, in + n), next(n);
    for (int s = 0; s < steps; ++s) {
        for (int i = 0; i < n; ++i) {
            const float before = now[i == 0 ? n - 1 : i - 1], after = now[i == n - 1 ? 0 : i + 1];
            next[i] = 0.25f * before + 0.5f * now[i] + 0.25f * after;
        }
        now.swap(next);
    }
    for (int i = 0; i < n; ++i) out[i] = now[i];
}
