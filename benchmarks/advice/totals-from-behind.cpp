// first openmp: blocked-scan
// first cuda: cub-primitives
static int worth(int kind, int x) { return kind * 5 + (x & 3); }

void totals_from_behind(const int* piece, int n, int* total) {
    total[n] = 0;
    for (int i = n - 1; i >= 0; i--) total[i] = worth(3, piece[i]) + total[i + 1];
}
