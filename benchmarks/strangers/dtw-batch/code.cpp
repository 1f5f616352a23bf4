#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace dtw {

// Distance of the query to each of count series of the same length, stored one after another.
std::vector<float> distances(const std::vector<float>& query, const std::vector<float>& series, int count) {
    const float inf = std::numeric_limits<float>::infinity();
    const int length = static_cast<int>(query.size());
    std::vector<float> result;
    result.reserve(count);
    for (int s = 0; s < count; ++s) {
        const float* other = series.data() + static_cast<std::size_t>(s) * length;
        std::vector<float> previous(length + 1, inf), current(length + 1, inf);
        previous[0] = 0.0f;
        for (int i = 1; i <= length; ++i) {
            current[0] = inf;
            for (int j = 1; j <= length; ++j) {
                const float cost = std::abs(query[i - 1] - other[j - 1]);
                current[j] = cost + std::min({previous[j], current[j - 1], previous[j - 1]});
            }
            std::swap(previous, current);
        }
        result.push_back(previous[length]);
    }
    return result;
}

}  // namespace dtw
