// first openmp: parallel-for loop-fusion
// first cuda: thread-per-element
#include <vector>
void twice(const std::vector<float>& raw, std::vector<float>& once, std::vector<float>& out) {
    int n = raw.size();
    for (int i = 1; i < n - 1; ++i) once[i] = (raw[i - 1] + raw[i] + raw[i + 1]) / 3;
    for (int i = 2; i < n - 2; ++i) out[i] = (once[i - 1] + once[i] + once[i + 1]) / 3;
}
