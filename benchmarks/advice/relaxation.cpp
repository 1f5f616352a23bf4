// first openmp: parallel-for reduction-clause
// first cuda: thread-per-element block-reduction
#include <cmath>
// Relaxes a plate until it rests; how many rounds that took.
int relax(double* now, double* then, int h, int w, int most, double eps, double* rest) {
    int round = 0;
    double change = 0;
    for (; round < most; ++round) {
        change = 0;
        for (int r = 1; r < h - 1; ++r)
            for (int c = 1; c < w - 1; ++c) {
                const int at = r * w + c;
                then[at] = (now[at - 1] + now[at + 1] + now[at - w] + now[at + w]) / 4;
                const double by = std::fabs(then[at] - now[at]);
                if (by > change) change = by;
            }
        for (int r = 1; r < h - 1; ++r)
            for (int c = 1; c < w - 1; ++c) now[r * w + c] = then[r * w + c];
        if (change <= eps) break;
    }
    *rest = change;
    return round;
}
