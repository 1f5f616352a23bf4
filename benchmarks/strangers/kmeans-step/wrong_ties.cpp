int kmeansStep(const std::vector<float> &points, std::vector<float> &centroids,
               std::vector<int> &labels, int n, int k, int dim) {
    int changed = 0;
    std::vector<double> sums((size_t)k * dim, 0.0);
    std::vector<int> counts(k, 0);
    const float *centre = centroids.data();
#pragma omp parallel reduction(+ : changed)
    {
        std::vector<double> own((size_t)k * dim, 0.0);
        std::vector<int> many(k, 0);
#pragma omp for schedule(static) nowait
        for (int i = 0; i < n; i++) {
            const float *p = &points[(size_t)i * dim];
            float best = std::numeric_limits<float>::max();
            int to = 0;
            for (int c = 0; c < k; c++) {
                float sum = 0.0f;
                for (int d = 0; d < dim; d++) {
                    const float diff = p[d] - centre[c * dim + d];
                    sum += diff * diff;
                }
                if (sum <= best) best = sum, to = c;
            }
            if (labels[i] != to) labels[i] = to, changed++;
            many[to]++;
            for (int d = 0; d < dim; d++) own[to * dim + d] += p[d];
        }
#pragma omp critical
        {
            for (int c = 0; c < k; c++) counts[c] += many[c];
            for (int c = 0; c < k * dim; c++) sums[c] += own[c];
        }
    }
    for (int c = 0; c < k; c++) {
        if (counts[c] == 0) continue;
        for (int d = 0; d < dim; d++) centroids[c * dim + d] = (float)(sums[c * dim + d] / counts[c]);
    }
    return changed;
}
