// Each thread takes as many peaks as the others, however long the groups are. A group that two threads share is
// put together afterwards from their parts; the place of the apex is found after the highest peak is known.
#pragma GCC optimize("no-trapping-math")  // selects without branches

#include <algorithm>
#include <vector>
#include <omp.h>

namespace {
struct Part {
    double moment = 0, total = 0;
    float highest = 0;
    int apex = -1;
};

Part measure(const double* mz, const float* intensity, int first, int last) {
    Part part;
    if (first >= last) return part;
    double moment = 0, total = 0;
    float highest = intensity[first];
#pragma omp simd simdlen(8) reduction(+ : moment, total) reduction(max : highest)
    for (int i = first; i < last; ++i) {
        const float height = intensity[i];
        moment += mz[i] * height;
        total += height;
        highest = height > highest ? height : highest;
    }
    const float* at = std::find(intensity + first, intensity + last, highest);
    return {moment, total, highest, (int)(at - intensity)};
}

void join(Part& to, const Part& later) {
    to.moment += later.moment;
    to.total += later.total;
    if (later.apex >= 0 && (to.apex < 0 || later.highest > to.highest)) {
        to.highest = later.highest;
        to.apex = later.apex;
    }
}
}  // namespace

extern "C" void peak_centroids(const double* mz, const float* intensity, const int* start, double* centroid, double* area,
                               int* apex, int peaks, int groups) {
    const int most = std::min(omp_get_max_threads(), peaks / 8192 + 1);
    std::vector<Part> first_part(most), last_part(most);  // of groups that begin before, or end after, the thread's peaks
    std::vector<int> first_group(most, -1), last_group(most, -1);
    auto write = [&](int g, const Part& part) {
        centroid[g] = part.total > 0 ? part.moment / part.total : 0.0;
        area[g] = part.total;
        apex[g] = part.apex;
    };
    int threads = 1;
#pragma omp parallel num_threads(most)
    {
        const int t = omp_get_thread_num(), count = omp_get_num_threads();
#pragma omp single
        threads = count;
        const int low = start[0] + (int)((long long)(start[groups] - start[0]) * t / count);
        const int high = start[0] + (int)((long long)(start[groups] - start[0]) * (t + 1) / count);
        // the groups that begin in [low, high) are this thread's; the last thread has the empty ones at the end
        const int from = (int)(std::lower_bound(start, start + groups, low) - start);
        const int to = t == count - 1 ? groups : (int)(std::lower_bound(start, start + groups, high) - start);
        const int open = std::min(high, from < groups ? start[from] : high);  // what an earlier group has here
        if (low < open) {
            first_group[t] = from - 1;
            first_part[t] = measure(mz, intensity, low, open);
        }
        for (int g = from; g < to; ++g) {
            const Part part = measure(mz, intensity, start[g], std::min(start[g + 1], high));
            if (start[g + 1] > high) {
                last_group[t] = g;
                last_part[t] = part;
            } else {
                write(g, part);
            }
        }
    }
    for (int t = 0; t < threads; ++t) {
        if (last_group[t] < 0) continue;
        for (int later = t + 1; later < threads && first_group[later] == last_group[t]; ++later) {
            join(last_part[t], first_part[later]);
        }
        write(last_group[t], last_part[t]);
    }
}
