// The length of the longest common subsequence of two texts, by rows of a table.
extern "C" void lcs_entry(const int* a, const int* b, int* table, int n, int m) {
    for (int j = 0; j <= m; ++j) table[j] = 0;
    for (int i = 1; i <= n; ++i) {
        table[i * (m + 1)] = 0;
        for (int j = 1; j <= m; ++j) {
            const int up = table[(i - 1) * (m + 1) + j], left = table[i * (m + 1) + j - 1];
            const int longer = up > left ? up : left;
            table[i * (m + 1) + j] = a[i - 1] == b[j - 1] ? table[(i - 1) * (m + 1) + j - 1] + 1 : longer;
        }
    }
}
