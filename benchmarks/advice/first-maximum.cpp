// first openmp: reduction-clause parallel-for
// first cuda: thread-per-element block-reduction cub-primitives
#include <vector>
void first_maximum(const std::vector<float>& level, float& highest, int& where) {
    highest = level[0];
    where = 0;
    for (size_t i = 1; i < level.size(); ++i)
        if (level[i] > highest) {
            highest = level[i];
            where = static_cast<int>(i);
        }
}
