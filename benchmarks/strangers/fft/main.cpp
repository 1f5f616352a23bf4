#include <cmath>
#include <cstdio>
#include <vector>

void fft(double *re, double *im, int n, int inverse);

int main()
{
    const int n = 1 << 14;
    std::vector<double> re(n), im(n);
    for (int i = 0; i < n; i++) {
        re[i] = std::sin(0.01 * i) + (i % 17) * 0.1;
        im[i] = 0.0;
    }
    fft(re.data(), im.data(), n, 0);
    double power = 0;
    for (int i = 0; i < n; i++) power += re[i] * re[i] + im[i] * im[i];
    fft(re.data(), im.data(), n, 1);
    double sum = 0;
    for (int i = 0; i < n; i++) sum += re[i] * (i % 7);
    printf("power %.6e sum %.6e\n", power, sum);
    return 0;
}
