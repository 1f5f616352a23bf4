#include <cstdio>
#include <vector>

void smith_waterman(const char *a, const char *b, int *h, int *best, int m, int n);

int main()
{
    const int m = 133, n = 97;
    std::vector<char> a(m), b(n);
    unsigned s = 12345;
    for (auto &c : a) { s = s * 1103515245u + 12345u; c = "ACGT"[(s >> 16) & 3]; }
    for (auto &c : b) { s = s * 1103515245u + 12345u; c = "ACGT"[(s >> 16) & 3]; }
    std::vector<int> h((m + 1) * (n + 1));
    int best = 0;
    smith_waterman(a.data(), b.data(), h.data(), &best, m, n);
    long sum = 0;
    for (size_t i = 0; i < h.size(); i++) sum += h[i] * (long)(i % 13);
    printf("best %d sum %ld\n", best, sum);
}
