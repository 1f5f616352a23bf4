#include <cstdio>
#include <span>
#include <vector>

namespace nn {
class SoftmaxCrossEntropy {
  public:
    static double forward(std::span<const float>, std::span<const int>, std::span<float>);
};
}  // namespace nn

int main() {
    for (int batch : {0, 1, 50}) {
        const int classes = 37;
        std::vector<float> x(batch * classes), g(x.size());
        std::vector<int> y(batch);
        for (std::size_t i = 0; i < x.size(); ++i) x[i] = i * 7919 % 1009 / 100.9f;
        for (int b = 0; b < batch; ++b) y[b] = b * 31 % classes;
        const double loss = nn::SoftmaxCrossEntropy::forward(x, y, g);
        double sum = 0;
        for (std::size_t i = 0; i < g.size(); ++i) sum += g[i] * (i % 7 + 1.0);
        std::printf("%.6f %.5f\n", loss, sum);
    }
}
