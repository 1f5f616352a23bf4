// first openmp: parallel-for simd
// first cuda: thread-per-element
void differences(const int* value, int* change, int count) {
    change[0] = value[0];
    for (int at = 1; at < count; ++at) change[at] = value[at] - value[at - 1];
}
