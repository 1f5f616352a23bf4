#include <cstdio>
#include <cstddef>
#include <vector>

void layernorm_softmax(const std::vector<float>& x, const std::vector<float>& gamma,
                       const std::vector<float>& beta, std::vector<float>& y, size_t rows, size_t cols);

int main()
{
    const size_t rows = 37, cols = 65;
    std::vector<float> x(rows * cols), gamma(cols), beta(cols), y(rows * cols);
    for (size_t i = 0; i < x.size(); i++) x[i] = float((i * 2654435761u) % 1000) / 250.0f - 2.0f;
    for (size_t c = 0; c < cols; c++) {
        gamma[c] = 1.0f + 0.01f * c;
        beta[c] = 0.02f * c;
    }
    layernorm_softmax(x, gamma, beta, y, rows, cols);
    double sum = 0;
    for (size_t i = 0; i < y.size(); i++) sum += y[i] * (i % 5);
    std::printf("%.5f %.5f\n", sum, double(y[3]) * 1000);
}
