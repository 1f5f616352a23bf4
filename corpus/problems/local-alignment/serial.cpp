#include <vector>

// best[p] = score of the best local alignment of string p of a (la letters) and string p of b (lb letters).
extern "C" void local_alignment(const unsigned char* a, const unsigned char* b, int* best, int pairs, int la, int lb) {
    std::vector<int> row(lb + 1);
    for (int p = 0; p < pairs; ++p) {
        const unsigned char* s = a + (long)p * la;
        const unsigned char* t = b + (long)p * lb;
        for (int j = 0; j <= lb; ++j) row[j] = 0;
        int most = 0;
        for (int i = 0; i < la; ++i) {
            int corner = 0;
            for (int j = 0; j < lb; ++j) {
                const int match = corner + (s[i] == t[j] ? 2 : -1);
                corner = row[j + 1];
                const int gap = (row[j] > corner ? row[j] : corner) - 1;
                const int score = match > gap ? match : gap;
                row[j + 1] = score > 0 ? score : 0;
                most = row[j + 1] > most ? row[j + 1] : most;
            }
        }
        best[p] = most;
    }
}
