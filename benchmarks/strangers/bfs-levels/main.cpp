#include <cstdio>
#include <vector>

std::vector<int> bfs(const std::vector<int>& rowPtr, const std::vector<int>& colIdx, int source);

int main() {
    for (int n : {1, 10, 3000}) {
        std::vector<int> rows{0}, cols;
        for (int u = 0; u < n; ++u) {
            for (int k = 0; k < u % 4; ++k) cols.push_back((u * 31 + k * 977 + 5) % n);
            rows.push_back(cols.size());
        }
        for (int source : {0, n / 2, n}) {
            const std::vector<int> level = bfs(rows, cols, source);
            long sum = 0;
            for (int i = 0; i < n; ++i) sum += level[i] * (i % 7 + 1L);
            std::printf("%zu %ld\n", level.size(), sum);
        }
    }
}
