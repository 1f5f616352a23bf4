#include <cstdio>
#include <vector>

namespace mg {
template <class Real>
void restrictFull(const Real* fine, int n, Real* coarse);
}

int main() {
    for (int n : {1, 3, 4, 17}) {
        const int m = (n - 1) / 2;
        std::vector<float> fine(n * n * n), coarse(m * m * m + 1);
        for (int i = 0; i < n * n * n; ++i) fine[i] = (i * 7919 % 1009) / 1009.0f;
        mg::restrictFull(fine.data(), n, coarse.data());
        double sum = 0;
        for (std::size_t i = 0; i < coarse.size(); ++i) sum += coarse[i] * (i % 7 + 1);
        std::printf("%.4f\n", sum);
    }
}
