#include <vector>

// length[0] = length of the longest common subsequence of a (n letters) and b (m letters); letters are 0 to 3.
extern "C" void common_subsequence(const unsigned char* a, const unsigned char* b, int* length, int n, int m) {
    std::vector<int> row(n + 1);
    for (int i = 0; i < m; ++i) {
        int corner = 0;
        for (int j = 0; j < n; ++j) {
            const int top = row[j + 1];
            if (a[j] == b[i]) {
                row[j + 1] = corner + 1;
            } else {
                row[j + 1] = top > row[j] ? top : row[j];
            }
            corner = top;
        }
    }
    length[0] = row[n];
}
