#include <climits>

// label[i] = index of the centre with the least squared distance to point i; the lowest of equals.
extern "C" void nearest_center(const unsigned char* point, const unsigned char* center, int* label, int n, int k) {
    for (int i = 0; i < n; ++i) {
        const unsigned char* p = point + 16L * i;
        int best = INT_MAX, where = 0;
        for (int c = 0; c < k; ++c) {
            const unsigned char* q = center + 16L * c;
            int distance = 0;
            for (int f = 0; f < 16; ++f) {
                const int d = p[f] - q[f];
                distance += d * d;
            }
            if (distance < best) {
                best = distance;
                where = c;
            }
        }
        label[i] = where;
    }
}
