double coveredLength(std::vector<Interval> intervals) {
    if (intervals.empty()) return 0.0;
    std::sort(intervals.begin(), intervals.end());
    const long n = intervals.size(), blocks = 64;
    std::vector<double> reach(blocks + 1, intervals.front().first);
#pragma omp parallel for
    for (long b = 0; b < blocks; ++b) {
        double far = intervals.front().first;
        for (long i = n * b / blocks; i < n * (b + 1) / blocks; ++i) far = std::max(far, intervals[i].second);
        reach[b + 1] = far;
    }
    for (long b = 1; b <= blocks; ++b) reach[b] = std::max(reach[b], reach[b - 1]);
    double total = 0.0;
#pragma omp parallel for reduction(+ : total)
    for (long b = 0; b < blocks; ++b) {
        double far = reach[b];
        for (long i = n * b / blocks; i < n * (b + 1) / blocks; ++i) {
            if (intervals[i].second <= far) continue;
            total += intervals[i].second - std::max(intervals[i].first, far);
            far = intervals[i].second;
        }
    }
    return total;
}
