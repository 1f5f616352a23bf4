// Ways to fill the rows from row on; columns and diagonals that are attacked are set bits.
static long long place(const unsigned* blocked, int n, int row, unsigned columns, unsigned left, unsigned right) {
    if (row == n) return 1;
    long long ways = 0;
    unsigned open = ((1u << n) - 1) & ~(columns | left | right | blocked[row]);
    while (open) {
        const unsigned queen = open & -open;
        open ^= queen;
        ways += place(blocked, n, row + 1, columns | queen, (left | queen) << 1, (right | queen) >> 1);
    }
    return ways;
}

// count[0] = placements of n queens (n at most 20) that do not attack each other; blocked[i] has the closed columns of row i.
extern "C" void blocked_queens(const unsigned* blocked, long long* count, int n) {
    count[0] = place(blocked, n, 0, 0, 0, 0);
}
