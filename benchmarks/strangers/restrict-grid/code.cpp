#include <cstdlib>
#include <vector>

namespace mg {

template <class Real>
struct View {
    Real* data;
    int n;
    Real& operator()(int i, int j, int k) const { return data[(static_cast<long>(i) * n + j) * n + k]; }
};

// The coarse grid has (n - 1) / 2 points a side: coarse i lies on fine 2 i + 1.
template <class Real>
void restrictFull(const Real* fine, int n, Real* coarse) {
    const int m = (n - 1) / 2;
    View<const Real> f{fine, n};
    View<Real> c{coarse, m};
    for (int i = 0; i < m; ++i)
        for (int j = 0; j < m; ++j)
            for (int k = 0; k < m; ++k) {
                Real sum = 0;
                for (int di = -1; di <= 1; ++di)
                    for (int dj = -1; dj <= 1; ++dj)
                        for (int dk = -1; dk <= 1; ++dk) {
                            const int distance = std::abs(di) + std::abs(dj) + std::abs(dk);
                            const Real weight = Real(1) / (8 << distance);
                            sum += weight * f(2 * i + 1 + di, 2 * j + 1 + dj, 2 * k + 1 + dk);
                        }
                c(i, j, k) = sum;
            }
}

template void restrictFull<float>(const float*, int, float*);
template void restrictFull<double>(const double*, int, double*);

}  // namespace mg
