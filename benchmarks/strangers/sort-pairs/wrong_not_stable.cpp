void sort_by_key(std::vector<uint32_t>& keys, std::vector<float>& values) {
    const size_t n = keys.size();
    std::vector<std::pair<uint32_t, float>> pairs(n);
    for (size_t i = 0; i < n; ++i) pairs[i] = {keys[i], values[i]};
    std::sort(pairs.begin(), pairs.end());
    for (size_t i = 0; i < n; ++i) {
        keys[i] = pairs[i].first;
        values[i] = pairs[i].second;
    }
}
