#include <cstdio>
#include <vector>

int pagerank(const std::vector<int>& in_ptr, const std::vector<int>& in_idx, const std::vector<int>& out_deg,
             std::vector<double>& rank, int iterations, double damping, double tol);

int main()
{
    const int n = 200;
    std::vector<int> ptr(n + 1), idx, deg(n, 0);
    for (int v = 0; v < n; ++v) {
        ptr[v] = (int)idx.size();
        for (int e = 0; e < 1 + v % 6; ++e) {
            int u = (v * 7 + e * 31) % n;
            idx.push_back(u);
            ++deg[u];
        }
    }
    ptr[n] = (int)idx.size();
    std::vector<double> rank(n);
    int it = pagerank(ptr, idx, deg, rank, 50, 0.85, 1e-9);
    double sum = 0;
    for (int v = 0; v < n; ++v) sum += rank[v] * (v % 10);
    printf("%d %.8f\n", it, sum);
}
