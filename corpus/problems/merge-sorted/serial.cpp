// out = the elements of the ascending arrays a (n of them) and b (m), ascending.
extern "C" void merge_sorted(const int* a, const int* b, int* out, int n, int m) {
    int i = 0, j = 0;
    for (int k = 0; k < n + m; ++k) {
        if (j == m || (i < n && a[i] <= b[j])) {
            out[k] = a[i++];
        } else {
            out[k] = b[j++];
        }
    }
}
