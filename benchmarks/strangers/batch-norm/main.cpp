#include <cstdio>
#include <vector>

void batchnorm_train(const float *x, float *y, const float *gamma, const float *beta, float *running_mean,
                     float *running_var, int n, int c, int hw, float momentum, float eps);

int main() {
    for (int n : {0, 1, 4}) {
        const int c = 5, hw = 77;
        std::vector<float> x(n * c * hw), y(x.size()), g(c, 1.5f), b(c, 0.25f), m(c, 0.1f), v(c, 0.9f);
        for (std::size_t i = 0; i < x.size(); ++i) x[i] = i * 7919 % 1009 / 100.9f;
        batchnorm_train(x.data(), y.data(), g.data(), b.data(), m.data(), v.data(), n, c, hw, 0.1f, 1e-5f);
        double sum = 0;
        for (std::size_t i = 0; i < y.size(); ++i) sum += y[i] * (i % 7 + 1.0);
        for (int i = 0; i < c; ++i) sum += m[i] * 3 + v[i];
        std::printf("%.4f\n", sum);
    }
}
