std::vector<int> decode(const Table& start, const Table& trans, const Table& emit,
                        const std::vector<int>& observed, int states, int symbols) {
    const int T = (int)observed.size();
    std::vector<int> path(T);
    if (T == 0) return path;
    Table score(states), next(states);
    std::vector<int> back((std::size_t)T * states, 0);
    for (int s = 0; s < states; s++) score[s] = start[s] + emit[s * symbols + observed[0]];
#pragma omp parallel
    for (int t = 1; t < T; t++) {
#pragma omp for schedule(static)
        for (int j = 0; j < states; j++) {
            double best = -std::numeric_limits<double>::max();
            int from = 0;
            for (int i = 0; i < states; i++) {
                const double candidate = score[i] + trans[i * states + j];
                if (candidate > best) best = candidate, from = i;
            }
            next[j] = best + emit[j * symbols + observed[t]];
            back[(std::size_t)t * states + j] = from;
        }
#pragma omp single
        score.swap(next);
    }
    int last = 0;
    for (int s = 1; s < states; s++)
        if (score[s] > score[last]) last = s;
    for (int t = T - 1; t >= 0; t--) {
        path[t] = last;
        last = back[(std::size_t)(t ? t - 1 : 0) * states + last];
    }
    return path;
}
