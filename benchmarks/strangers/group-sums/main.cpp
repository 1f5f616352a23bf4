#include <cstdint>
#include <cstdio>
#include <vector>

namespace Aggregate {
struct Group {
    std::int64_t sum, count, largest;
};
std::vector<Group> sumByKey(const std::vector<std::int32_t>& keys, const std::vector<std::int32_t>& amounts,
                            const std::vector<std::uint8_t>& bitmap, int groups);
}  // namespace Aggregate

int main() {
    for (int n : {0, 1, 5000}) {
        std::vector<std::int32_t> keys(n), amounts(n);
        std::vector<std::uint8_t> bits((n + 7) / 8);
        for (int i = 0; i < n; ++i) keys[i] = i * 31 % 21 - 2, amounts[i] = i * 7919 % 1009 - 500;
        for (std::size_t i = 0; i < bits.size(); ++i) bits[i] = i * 37 + 5;
        unsigned sum = 0;
        for (const auto& g : Aggregate::sumByKey(keys, amounts, bits, 16))
            sum = sum * 31 + unsigned(g.sum * 5 + g.count * 3 + g.largest);
        std::printf("%u\n", sum);
    }
}
