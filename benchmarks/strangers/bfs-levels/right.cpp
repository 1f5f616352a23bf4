std::vector<int> bfs(const std::vector<int>& rowPtr, const std::vector<int>& colIdx, int source) {
    const int n = static_cast<int>(rowPtr.size()) - 1;
    std::vector<int> level(n, -1);
    if (source < 0 || source >= n) return level;
    std::vector<int> frontier{source}, next;
    level[source] = 0;
    for (int depth = 1; !frontier.empty(); ++depth) {
        next.clear();
        const int all = static_cast<int>(frontier.size());
#pragma omp parallel
        {
            std::vector<int> mine;
#pragma omp for schedule(dynamic, 64) nowait
            for (int i = 0; i < all; ++i) {
                const int u = frontier[i];
                for (int e = rowPtr[u]; e < rowPtr[u + 1]; ++e) {
                    const int v = colIdx[e];
                    int seen = -1;
                    if (__atomic_load_n(&level[v], __ATOMIC_RELAXED) == -1 &&
                        __atomic_compare_exchange_n(&level[v], &seen, depth, false, __ATOMIC_RELAXED,
                                                    __ATOMIC_RELAXED))
                        mine.push_back(v);
                }
            }
#pragma omp critical
            next.insert(next.end(), mine.begin(), mine.end());
        }
        frontier.swap(next);
    }
    return level;
}
