#include <algorithm>
#include <cstdio>
#include <vector>

void lower_solve(int nlevels, const int *level_ptr, const int *order, const int *row_ptr, const int *col,
                 const double *val, const double *b, double *x);

int main() {
    const int n = 2000;
    std::vector<int> rows{0}, cols, level(n, 0);
    std::vector<double> val, b(n), x(n, 1.0);
    for (int i = 0; i < n; ++i) {
        for (int k = 0; k < 3 && i > 0; ++k) {
            const int j = (i * 31 + k * 977) % i;
            cols.push_back(j);
            val.push_back(0.1 * (k + 1));
            level[i] = std::max(level[i], level[j] + 1);
        }
        cols.push_back(i);
        val.push_back(2.0 + i % 3);
        rows.push_back(cols.size());
        b[i] = i % 11 - 5;
    }
    const int deepest = *std::max_element(level.begin(), level.end());
    std::vector<int> ptr{0}, order;
    for (int l = 0; l <= deepest; ++l) {
        for (int i = 0; i < n; ++i)
            if (level[i] == l) order.push_back(i);
        ptr.push_back(order.size());
    }
    lower_solve(deepest + 1, ptr.data(), order.data(), rows.data(), cols.data(), val.data(), b.data(), x.data());
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += x[i] * (i % 7 + 1);
    std::printf("%d %.8f\n", deepest, sum);
}
