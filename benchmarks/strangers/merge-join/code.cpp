#include <cstddef>
#include <cstdint>
#include <vector>

struct MergeJoin {
    // Both columns ascend. Each pair of equal keys gives a row; returns how many.
    static size_t Run(const std::vector<int32_t>& left, const std::vector<int32_t>& right,
                      std::vector<uint32_t>& left_rows, std::vector<uint32_t>& right_rows);
};

size_t MergeJoin::Run(const std::vector<int32_t>& left, const std::vector<int32_t>& right,
                      std::vector<uint32_t>& left_rows, std::vector<uint32_t>& right_rows) {
    left_rows.clear();
    right_rows.clear();
    size_t l = 0, r = 0;
    while (l < left.size() && r < right.size()) {
        if (left[l] < right[r]) {
            ++l;
            continue;
        }
        if (right[r] < left[l]) {
            ++r;
            continue;
        }
        size_t r_end = r;
        while (r_end < right.size() && right[r_end] == left[l]) ++r_end;
        for (; l < left.size() && left[l] == right[r]; ++l)
            for (size_t k = r; k < r_end; ++k) {
                left_rows.push_back(static_cast<uint32_t>(l));
                right_rows.push_back(static_cast<uint32_t>(k));
            }
        r = r_end;
    }
    return left_rows.size();
}
