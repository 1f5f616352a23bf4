#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

namespace nn {

class SoftmaxCrossEntropy {
  public:
    static double forward(std::span<const float> logits, std::span<const int> labels, std::span<float> grad);
};

double SoftmaxCrossEntropy::forward(std::span<const float> logits, std::span<const int> labels,
                                    std::span<float> grad) {
    const std::size_t batch = labels.size();
    if (batch == 0) return 0.0;
    const std::size_t classes = logits.size() / batch;
    double loss = 0.0;
    for (std::size_t b = 0; b < batch; ++b) {
        const auto row = logits.subspan(b * classes, classes);
        const auto out = grad.subspan(b * classes, classes);
        const float top = *std::max_element(row.begin(), row.end());
        std::transform(row.begin(), row.end(), out.begin(), [top](float v) { return std::exp(v - top); });
        const float total = std::accumulate(out.begin(), out.end(), 0.0f);
        for (auto& g : out) g /= total * batch;
        out[labels[b]] -= 1.0f / batch;
        loss -= row[labels[b]] - top - std::log(total);
    }
    return loss / batch;
}

}  // namespace nn
