#include <cstddef>
#include <cstdio>
#include <vector>

size_t compact(const float* values, float* out, size_t n, float lo, float hi);

int main()
{
    const size_t n = 1003;
    std::vector<float> v(n), out(n);
    for (size_t i = 0; i < n; i++) v[i] = float((i * 7919) % 1000) / 500.0f - 1.0f;
    size_t kept = compact(v.data(), out.data(), n, -0.25f, 0.5f);
    double sum = 0;
    for (size_t i = 0; i < kept; i++) sum += out[i] * double(i % 17);
    printf("%zu %.4f\n", kept, sum);
}
