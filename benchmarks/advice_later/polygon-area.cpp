// first openmp: reduction-clause parallel-for simd multiple-accumulators
// first cuda: thread-per-element block-reduction cub-primitives
double polygon_area(const double* x, const double* y, int corners) {
    double twice = 0;
    for (int k = 0; k < corners; ++k) {
        int next = k + 1 == corners ? 0 : k + 1;
        twice += x[k] * y[next] - x[next] * y[k];
    }
    return twice / 2;
}
