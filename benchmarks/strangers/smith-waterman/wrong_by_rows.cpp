void smith_waterman(const char *a, const char *b, int *h, int *best, int m, int n)
{
    const int width = n + 1;
    for (int i = 0; i <= m; i++) h[i * width] = 0;
    for (int j = 0; j <= n; j++) h[j] = 0;

    int top = 0;
    for (int j0 = 1; j0 <= 1; j0++) {
        #pragma omp parallel for reduction(max : top)
        for (int i = 1; i <= m; i++) for (int j = 1; j <= n; j++) {
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
