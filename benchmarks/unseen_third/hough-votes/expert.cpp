// Angles to the threads: an angle's votes belong to one thread and lie in L1. Points are packed to a word each;
// distances are made by vectors, two angles at once.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

extern "C" void hough_votes(const int* __restrict px, const int* __restrict py, const int* __restrict cosine,
                            const int* __restrict sine, int* __restrict votes, int points, int angles, int w, int h) {
    constexpr int block = 512;
    const int middle = w + h, places = 2 * middle + 1;
    std::vector<unsigned> packed(points);
#pragma omp parallel
    {
#pragma omp for schedule(static)
        for (int p = 0; p < points; ++p) packed[p] = (unsigned)py[p] << 16 | (unsigned)px[p];
        std::vector<int> own(2 * (size_t)places);
        alignas(64) int one[block], two[block];
#pragma omp for schedule(dynamic)
        for (int a = 0; a < angles; a += 2) {
            const int b = std::min(a + 1, angles - 1);
            const int ca = cosine[a], sa = sine[a], cb = cosine[b], sb = sine[b];
            std::fill(own.begin(), own.end(), 0);
            int *first = own.data() + middle, *second = first + places;
            for (int p = 0; p < points; p += block) {
                const int here = std::min(block, points - p);
                const unsigned* at = packed.data() + p;
#pragma omp simd
                for (int k = 0; k < here; ++k) {
                    const int x = (int)(at[k] & 0xffff), y = (int)(at[k] >> 16);
                    one[k] = (x * ca + y * sa) >> 14;
                    two[k] = (x * cb + y * sb) >> 14;
                }
                for (int k = 0; k < here; ++k) {
                    ++first[one[k]];
                    ++second[two[k]];
                }
            }
            std::memcpy(votes + (size_t)a * places, own.data(), sizeof(int) * (size_t)places);
            if (b != a) std::memcpy(votes + (size_t)b * places, own.data() + places, sizeof(int) * (size_t)places);
        }
    }
}
