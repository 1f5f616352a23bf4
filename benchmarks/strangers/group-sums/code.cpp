#include <cstddef>
#include <cstdint>
#include <vector>

namespace Aggregate {

struct Group {
    std::int64_t sum;
    std::int64_t count;
    std::int64_t largest;
};

inline bool isValid(const std::vector<std::uint8_t>& bitmap, std::size_t row) {
    return bitmap[row >> 3] >> (row & 7) & 1;
}

// Keys outside 0 .. groups - 1 and rows whose bit is not set are left out.
std::vector<Group> sumByKey(const std::vector<std::int32_t>& keys, const std::vector<std::int32_t>& amounts,
                            const std::vector<std::uint8_t>& bitmap, int groups) {
    std::vector<Group> result(groups, Group{0, 0, INT64_MIN});
    for (std::size_t row = 0; row < keys.size(); ++row) {
        if (!isValid(bitmap, row)) continue;
        const std::int32_t key = keys[row];
        if (key < 0 || key >= groups) continue;
        Group& group = result[key];
        group.sum += amounts[row];
        ++group.count;
        if (amounts[row] > group.largest) group.largest = amounts[row];
    }
    return result;
}

}  // namespace Aggregate
