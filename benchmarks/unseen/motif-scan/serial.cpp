// The best place of a motif in each read: scores of bases by position (log odds times 100) add up over the
// motif's width; the first of equally good places counts.
#include <climits>

extern "C" void motif_scan(const unsigned char* bases, const int* matrix, int* best_score, int* best_place, int reads,
                           int length, int width) {
    for (int r = 0; r < reads; ++r) {
        const unsigned char* read = bases + (long long)r * length;
        int best = INT_MIN, place = -1;
        for (int p = 0; p + width <= length; ++p) {
            int score = 0;
            for (int k = 0; k < width; ++k) score += matrix[4 * k + read[p + k]];
            if (score > best) {
                best = score;
                place = p;
            }
        }
        best_score[r] = best;
        best_place[r] = place;
    }
}
