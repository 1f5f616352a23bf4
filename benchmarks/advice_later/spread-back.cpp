// first openmp: parallel-for atomic-updates thread-private-copies array-reduction partitioning
// first cuda: thread-per-element warp-per-task atomic-aggregation
void spread_back(const int* begin, const int* to, const float* weight, const float* x, float* y, int rows,
                 int columns) {
    for (int c = 0; c < columns; ++c) y[c] = 0;
    for (int r = 0; r < rows; ++r)
        for (int e = begin[r]; e < begin[r + 1]; ++e) y[to[e]] += weight[e] * x[r];
}
