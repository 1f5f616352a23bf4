#include <cstdio>
#include <vector>

void priceOptions(float* callResult, float* putResult, const float* stockPrice,
                  const float* optionStrike, const float* optionYears, int optN);

int main() {
    const int n = 4001;
    std::vector<float> call(n), put(n), s(n), x(n), t(n);
    for (int i = 0; i < n; ++i) {
        s[i] = 5.0f + 25.0f * (i * 37 % 101) / 101;
        x[i] = 1.0f + 99.0f * (i * 53 % 103) / 103;
        t[i] = 0.25f + 9.75f * (i * 11 % 107) / 107;
    }
    priceOptions(call.data(), put.data(), s.data(), x.data(), t.data(), n);
    double a = 0, b = 0;
    for (int i = 0; i < n; ++i) a += call[i], b += put[i];
    std::printf("%.3f %.3f\n", a, b);
}
