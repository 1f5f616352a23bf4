int pagerank(const std::vector<int>& in_ptr, const std::vector<int>& in_idx, const std::vector<int>& out_deg,
             std::vector<double>& rank, int iterations, double damping, double tol)
{
    const int n = static_cast<int>(out_deg.size());
    std::vector<double> next(n);

    for (int i = 0; i < n; ++i) rank[i] = 1.0 / n;

    int it = 0;
    while (it < iterations) {
        double dangling = 0.0;
        #pragma omp parallel for reduction(+ : dangling)
        for (int u = 0; u < n; ++u)
            if (out_deg[u] == 0) dangling += rank[u];

        double diff = 0.0;
        #pragma omp parallel for reduction(+ : diff) schedule(dynamic, 64)
        for (int v = 0; v < n; ++v) {
            double sum = 0.0;
            for (int e = in_ptr[v]; e < in_ptr[v + 1]; ++e) {
                int u = in_idx[e];
                sum += rank[u] / out_deg[u];
            }
            rank[v] = (1.0 - damping) / n + damping * (sum + dangling / n);
            diff += std::fabs(rank[v] - next[v]);
        }
        next = rank;
        ++it;
        if (diff < tol) break;
    }
    return it;
}
