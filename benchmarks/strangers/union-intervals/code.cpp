#include <algorithm>
#include <utility>
#include <vector>

using Interval = std::pair<double, double>;

// How much of the line is covered by at least one interval.
double coveredLength(std::vector<Interval> intervals) {
    if (intervals.empty()) return 0.0;
    std::sort(intervals.begin(), intervals.end());
    double total = 0.0;
    double reach = intervals.front().first;
    for (const auto& [from, to] : intervals) {
        if (to <= reach) continue;
        total += to - std::max(from, reach);
        reach = to;
    }
    return total;
}
