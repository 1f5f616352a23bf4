#include <algorithm>
#include <cstdint>
#include <vector>

// Rows hold their neighbours in ascending order.
std::int64_t countTriangles(const std::vector<std::uint32_t>& offsets,
                            const std::vector<std::uint32_t>& neighbours) {
    std::int64_t triangles = 0;
    if (offsets.empty()) return triangles;
    const auto begin = neighbours.begin();
    for (std::uint32_t u = 0; u + 1 < offsets.size(); ++u) {
        const auto endU = begin + offsets[u + 1];
        for (auto it = begin + offsets[u]; it != endU; ++it) {
            const std::uint32_t v = *it;
            if (v <= u) continue;
            auto a = std::next(it);
            auto b = begin + offsets[v];
            const auto endV = begin + offsets[v + 1];
            while (a != endU && b != endV) {
                if (*a < *b)
                    ++a;
                else if (*b < *a)
                    ++b;
                else {
                    ++triangles;
                    ++a;
                    ++b;
                }
            }
        }
    }
    return triangles;
}
