// first openmp: parallel-for simd
// first cuda: thread-per-element
void scaled_sum(int count, double factor, const double* from, double* to) {
    int k;
    double part;
    for (k = 0; k < count; k++) {
        part = factor * from[k];
        to[k] = to[k] + part;
    }
}
