#include <cstdio>
#include <vector>

void floydWarshall(int *dist, int V);

int main() {
    const int n = 60, inf = 1000000000;
    std::vector<int> d(n * n);
    unsigned s = 9;
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) {
            s = s * 1664525u + 1013904223u;
            d[i * n + j] = i == j ? 0 : (s >> 16) % 12 == 0 ? (int)((s >> 8) % 100 + 1) : inf;
        }
    floydWarshall(d.data(), n);
    long sum = 0, reached = 0;
    for (int x : d)
        if (x < inf) sum += x, ++reached;
    std::printf("%ld pairs, %ld\n", reached, sum);
}
