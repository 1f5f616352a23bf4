std::array<int, BINS> histogram(const std::vector<float>& data, float lo, float hi) {
    std::array<int, BINS> bins;
    bins.fill(0);
    int* sums = bins.data();
    const float* x = data.data();
    const long n = (long)data.size();
    const float scale = BINS / (hi - lo);
#pragma omp parallel for schedule(static)
    for (long i = 0; i < n; ++i) {
        const int bin = static_cast<int>(std::floor((x[i] - lo) * scale));
        ++sums[std::max(0, std::min(bin, BINS - 1))];
    }
    return bins;
}
