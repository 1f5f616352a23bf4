// distance[p] = edit distance of string p of a and string p of b; strings have `length` letters (at most 64) from 0 to 3.
extern "C" void edit_distance_pairs(const unsigned char* a, const unsigned char* b, int* distance, int pairs, int length) {
    for (int p = 0; p < pairs; ++p) {
        const unsigned char* s = a + (long)p * length;
        const unsigned char* t = b + (long)p * length;
        int row[65];
        for (int j = 0; j <= length; ++j) row[j] = j;
        for (int i = 0; i < length; ++i) {
            int corner = row[0];
            row[0] = i + 1;
            for (int j = 0; j < length; ++j) {
                const int change = corner + (s[j] != t[i]);
                corner = row[j + 1];
                const int gap = (row[j] < corner ? row[j] : corner) + 1;
                row[j + 1] = change < gap ? change : gap;
            }
        }
        distance[p] = row[length];
    }
}
