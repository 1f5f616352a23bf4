std::vector<float> distances(const std::vector<float>& query, const std::vector<float>& series, int count) {
    const float inf = std::numeric_limits<float>::infinity();
    const int length = static_cast<int>(query.size());
    std::vector<float> result(count);
#pragma omp parallel
    {
        std::vector<float> row(length + 1);
#pragma omp for schedule(static)
        for (int s = 0; s < count; ++s) {
            const float* other = series.data() + static_cast<std::size_t>(s) * length;
            std::fill(row.begin(), row.end(), inf);
            row[0] = 0.0f;
            for (int i = 1; i <= length; ++i) {
                float corner = row[0];
                row[0] = inf;
                for (int j = 1; j <= length; ++j) {
                    const float above = row[j];
                    const float cost = std::abs(query[i - 1] - other[j - 1]);
                    row[j] = cost + std::min({above, row[j - 1], corner});
                    corner = row[j];
                }
            }
            result[s] = row[length];
        }
    }
    return result;
}
