// first openmp: parallel-for
// first cuda: thread-per-element warp-per-task block-per-task
#include <cmath>
void softmax_rows(const float* logits, float* odds, int rows, int classes) {
    for (int i = 0; i < rows; i++) {
        const float* row = logits + (long)i * classes;
        float* to = odds + (long)i * classes;
        float most = row[0], total = 0;
        for (int j = 1; j < classes; j++) most = std::fmax(most, row[j]);
        for (int j = 0; j < classes; j++) total += to[j] = std::exp(row[j] - most);
        for (int j = 0; j < classes; j++) to[j] /= total;
    }
}
