#include <cfloat>
#include <climits>
#include <vector>

#define MAX_K 32

struct Hit {
    float score;
    int index;
};

static bool better(const Hit &a, const Hit &b) {
    return a.score > b.score || (a.score == b.score && a.index < b.index);
}

std::vector<Hit> selectTopK(const std::vector<float> &scores, int users, int items, int k) {
    if (k > MAX_K) k = MAX_K;
    std::vector<Hit> hits(static_cast<std::size_t>(users) * k);
    Hit best[MAX_K];
    for (int u = 0; u < users; u++) {
        for (int j = 0; j < k; j++) best[j] = {-FLT_MAX, INT_MAX};
        for (int i = 0; i < items; i++) {
            const Hit hit = {scores[static_cast<std::size_t>(u) * items + i], i};
            if (!better(hit, best[k - 1])) continue;
            int at = k - 1;
            while (at > 0 && better(hit, best[at - 1])) {
                best[at] = best[at - 1];
                at--;
            }
            best[at] = hit;
        }
        for (int j = 0; j < k; j++) hits[static_cast<std::size_t>(u) * k + j] = best[j];
    }
    return hits;
}
