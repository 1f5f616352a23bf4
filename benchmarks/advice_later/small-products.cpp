// first openmp: parallel-for loop-collapse
// first cuda: thread-per-element
typedef double Four[4][4];
void small_products(const Four* a, const Four* b, Four* c, int count) {
    for (int m = 0; m < count; ++m)
        for (int i = 0; i < 4; ++i)
            for (int j = 0; j < 4; ++j) {
                double sum = 0;
                for (int k = 0; k < 4; ++k) sum += a[m][i][k] * b[m][k][j];
                c[m][i][j] = sum;
            }
}
