std::int64_t countTriangles(const std::vector<std::uint32_t>& offsets,
                            const std::vector<std::uint32_t>& neighbours) {
    std::int64_t triangles = 0;
    const std::int64_t n = offsets.empty() ? 0 : (std::int64_t)offsets.size() - 1;
    const std::uint32_t* all = neighbours.data();
#pragma omp parallel for schedule(dynamic, 16) reduction(+ : triangles)
    for (std::int64_t u = n / 8; u < n; ++u) {
        const std::uint32_t* endU = all + offsets[u + 1];
        for (const std::uint32_t* it = all + offsets[u]; it != endU; ++it) {
            const std::uint32_t v = *it;
            if (v <= u) continue;
            const std::uint32_t *a = it + 1, *b = all + offsets[v], *endV = all + offsets[v + 1];
            while (a != endU && b != endV) {
                const std::uint32_t x = *a, y = *b;
                a += x <= y;
                b += y <= x;
                triangles += x == y;
            }
        }
    }
    return triangles;
}
