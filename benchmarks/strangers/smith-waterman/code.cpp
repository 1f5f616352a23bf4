#include <algorithm>
#include <vector>

#define MATCH 3
#define MISMATCH (-2)
#define GAP 2

// Best local alignment score of a[0..m) and b[0..n), linear gaps. h is (m + 1) x (n + 1).
// Filled by anti-diagonals: all cells with i + j == diag can be computed at once.
void smith_waterman(const char *a, const char *b, int *h, int *best, int m, int n)
{
    const int width = n + 1;
    for (int i = 0; i <= m; i++) h[i * width] = 0;
    for (int j = 0; j <= n; j++) h[j] = 0;

    int top = 0;
    for (int diag = 2; diag <= m + n; diag++) {
        const int first = std::max(1, diag - n);
        const int last = std::min(m, diag - 1);
        for (int i = first; i <= last; i++) {
            const int j = diag - i;
            int s = h[(i - 1) * width + (j - 1)] + (a[i - 1] == b[j - 1] ? MATCH : MISMATCH);
            s = std::max(s, h[(i - 1) * width + j] - GAP);
            s = std::max(s, h[i * width + (j - 1)] - GAP);
            if (s < 0) s = 0;
            h[i * width + j] = s;
            if (s > top) top = s;
        }
    }
    *best = top;
}
