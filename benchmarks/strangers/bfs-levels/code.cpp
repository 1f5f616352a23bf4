#include <vector>

/** Levels of a breadth-first search; -1 where the source does not reach. */
std::vector<int> bfs(const std::vector<int>& rowPtr, const std::vector<int>& colIdx, int source) {
    const int n = static_cast<int>(rowPtr.size()) - 1;
    std::vector<int> level(n, -1);
    if (source < 0 || source >= n) return level;

    std::vector<int> frontier{source}, next;
    level[source] = 0;
    for (int depth = 1; !frontier.empty(); ++depth) {
        next.clear();
        for (int u : frontier) {
            for (int e = rowPtr[u]; e < rowPtr[u + 1]; ++e) {
                const int v = colIdx[e];
                if (level[v] == -1) {
                    level[v] = depth;
                    next.push_back(v);
                }
            }
        }
        frontier.swap(next);
    }
    return level;
}
