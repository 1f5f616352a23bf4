// place[i] = number of elements of the ascending table that are less than key[i].
extern "C" void sorted_lookup(const int* table, const int* key, int* place, int m, int n) {
    for (int i = 0; i < n; ++i) {
        int low = 0, high = m;
        while (low < high) {
            const int middle = low + (high - low) / 2;
            if (table[middle] < key[i]) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        place[i] = low;
    }
}
