std::vector<Group> sumByKey(const std::vector<std::int32_t>& keys, const std::vector<std::int32_t>& amounts,
                            const std::vector<std::uint8_t>& bitmap, int groups) {
    std::vector<Group> result(groups, Group{0, 0, INT64_MIN});
    const long n = static_cast<long>(keys.size());
#pragma omp parallel
    {
        std::vector<Group> mine(groups, Group{0, 0, 0});
#pragma omp for schedule(static) nowait
        for (long row = 0; row < n; ++row) {
            const std::int32_t key = keys[row];
            if (!isValid(bitmap, row) || key < 0 || key >= groups) continue;
            mine[key].sum += amounts[row];
            mine[key].count += 1;
            if (amounts[row] > mine[key].largest) mine[key].largest = amounts[row];
        }
#pragma omp critical
        for (int g = 0; g < groups; ++g) {
            result[g].sum += mine[g].sum;
            result[g].count += mine[g].count;
            if (mine[g].largest > result[g].largest) result[g].largest = mine[g].largest;
        }
    }
    return result;
}
