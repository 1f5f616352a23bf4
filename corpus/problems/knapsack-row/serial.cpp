// best[c] = largest value of a choice of items whose weights add up to at most c; every item at most once.
extern "C" void knapsack_row(const int* weight, const int* value, int* best, int items, int capacity) {
    for (int c = 0; c <= capacity; ++c) {
        best[c] = 0;
    }
    for (int k = 0; k < items; ++k) {
        const int w = weight[k], v = value[k];
        for (int c = capacity; c >= w; --c) {
            const int taken = best[c - w] + v;
            best[c] = taken > best[c] ? taken : best[c];
        }
    }
}
