#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace signal {

// Mean of the last `window` samples, through a prefix sum; shorter windows at the start.
std::vector<double> moving_average(const std::vector<double>& samples, std::size_t window) {
    std::vector<double> average(samples.size());
    if (samples.empty() || window == 0) return average;

    std::vector<double> prefix(samples.size());
    std::partial_sum(samples.begin(), samples.end(), prefix.begin());

    for (std::size_t i = 0; i < samples.size(); ++i) {
        if (i < window)
            average[i] = prefix[i] / static_cast<double>(i + 1);
        else
            average[i] = (prefix[i] - prefix[i - window]) / static_cast<double>(window);
    }
    return average;
}

double mean(const std::vector<double>& v) {
    if (v.empty()) throw std::invalid_argument("empty");
    return std::accumulate(v.begin(), v.end(), 0.0) / v.size();
}

}  // namespace signal
