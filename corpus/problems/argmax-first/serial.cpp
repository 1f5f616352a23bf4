// best[0] = the largest of x[0..n-1], place[0] = the lowest i with x[i] = best[0].
extern "C" void argmax_first(const short* x, short* best, int* place, int n) {
    short top = x[0];
    int where = 0;
    for (int i = 1; i < n; ++i) {
        if (x[i] > top) {
            top = x[i];
            where = i;
        }
    }
    best[0] = top;
    place[0] = where;
}
