#include <cstdio>
#include <utility>
#include <vector>

void stream_and_collide(double *f_new, const double *f_old, int nx, int ny, double omega);
void init_shear(std::vector<double> &f, int nx, int ny);
void report(const std::vector<double> &f);

int main() {
    const int nx = 67, ny = 45;
    std::vector<double> a(9 * nx * ny), b(9 * nx * ny);
    init_shear(a, nx, ny);
    for (int t = 0; t < 20; ++t) {
        stream_and_collide(b.data(), a.data(), nx, ny, 1.2);
        std::swap(a, b);
    }
    report(a);
    double moment = 0;
    for (int i = 0; i < 9 * nx * ny; ++i) moment += a[i] * (i % 31);
    std::printf("moment %.9f\n", moment);
}
