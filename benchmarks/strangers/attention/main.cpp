#include <cstdio>
#include <vector>

std::vector<float> attention(const std::vector<float>& q, const std::vector<float>& k,
                             const std::vector<float>& v, int n, int d, bool causal);

static std::vector<float> make(int count, unsigned seed)
{
    std::vector<float> x(count);
    for (auto& e : x) {
        seed = seed * 1664525u + 1013904223u;
        e = float(seed >> 8) / float(1 << 24) - 0.5f;
    }
    return x;
}

int main()
{
    const int n = 70, d = 16;
    auto q = make(n * d, 1), k = make(n * d, 2), v = make(n * d, 3);
    for (int causal = 0; causal < 2; ++causal) {
        auto o = attention(q, k, v, n, d, causal != 0);
        double sum = 0;
        for (int i = 0; i < n * d; ++i) sum += o[i] * (i % 11);
        printf("%d %.4f\n", causal, sum);
    }
}
