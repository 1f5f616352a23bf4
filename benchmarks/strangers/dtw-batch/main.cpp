#include <cstdio>
#include <vector>

namespace dtw {
std::vector<float> distances(const std::vector<float>& query, const std::vector<float>& series, int count);
}

int main() {
    for (int count : {0, 1, 40}) {
        const int length = 60;
        std::vector<float> q(length), all(length * count);
        for (int i = 0; i < length; ++i) q[i] = i * 31 % 17 / 17.0f;
        for (int i = 0; i < length * count; ++i) all[i] = i * 7919 % 1009 / 1009.0f;
        double sum = 0;
        const std::vector<float> d = dtw::distances(q, all, count);
        for (std::size_t i = 0; i < d.size(); ++i) sum += d[i] * (i % 5 + 1);
        std::printf("%zu %.4f\n", d.size(), sum);
    }
}
