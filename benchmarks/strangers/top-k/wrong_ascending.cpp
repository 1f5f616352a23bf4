std::vector<Hit> selectTopK(const std::vector<float> &scores, int users, int items, int k) {
    if (k > MAX_K) k = MAX_K;
    std::vector<Hit> hits(static_cast<std::size_t>(users) * k);
#pragma omp parallel for schedule(static)
    for (int u = 0; u < users; u++) {
        Hit best[MAX_K];
        for (int j = 0; j < k; j++) best[j] = {-FLT_MAX, INT_MAX};
        const float *row = scores.data() + static_cast<std::size_t>(u) * items;
        for (int i = 0; i < items; i++) {
            if (row[i] < best[k - 1].score) continue;
            const Hit hit = {row[i], i};
            if (!better(hit, best[k - 1])) continue;
            int at = k - 1;
            for (; at > 0 && better(hit, best[at - 1]); at--) best[at] = best[at - 1];
            best[at] = hit;
        }
        for (int j = 0; j < k; j++) hits[static_cast<std::size_t>(u) * k + j] = best[k - 1 - j];
    }
    return hits;
}
