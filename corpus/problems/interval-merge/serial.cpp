#include <climits>
#include <vector>

// cost[i][j] = least over r of cost[i][r - 1] + cost[r][j], plus the sum of weights i to j; 0 where j <= i.
extern "C" void interval_merge(const int* weight, int* cost, int n) {
    std::vector<int> sum(n + 1);
    for (int i = 0; i < n; ++i) sum[i + 1] = sum[i] + weight[i];
    for (int i = n - 1; i >= 0; --i) {
        int* row = cost + (long)i * n;
        for (int j = 0; j < n; ++j) row[j] = j <= i ? 0 : INT_MAX;
        for (int r = i + 1; r < n; ++r) {
            const int left = row[r - 1];
            const int* right = cost + (long)r * n;
            for (int j = r; j < n; ++j) {
                const int both = left + right[j];
                row[j] = both < row[j] ? both : row[j];
            }
            row[r] += sum[r + 1] - sum[i];
        }
    }
}
