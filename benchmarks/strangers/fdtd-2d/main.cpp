#include <cstdio>
#include <vector>

void updateH2d(double *hx, double *hy, const double *ez, int sizeX, int sizeY);
void updateE2d(double *ez, const double *hx, const double *hy, int sizeX, int sizeY, double ceze,
               double cezh);
double ezInc(double time, double location);

int main() {
    const int sx = 61, sy = 83;
    std::vector<double> ez(sx * sy), hx(sx * (sy - 1)), hy((sx - 1) * sy);
    for (int t = 0; t < 100; ++t) {
        updateH2d(hx.data(), hy.data(), ez.data(), sx, sy);
        updateE2d(ez.data(), hx.data(), hy.data(), sx, sy, 1.0, 0.5);
        ez[(sx / 2) * sy + sy / 2] = ezInc(t, 0.0);
    }
    double sum = 0, abs = 0;
    for (int i = 0; i < sx * sy; ++i) {
        sum += ez[i] * (i % 17);
        abs += ez[i] * ez[i];
    }
    std::printf("%.9f %.9f\n", sum, abs);
}
