#include <vector>

// level[v] = the least number of edges from vertex 0 to v, or -1; vertex u has edges to target[start[u]] ... .
extern "C" void bfs_levels(const int* start, const int* target, int* level, int vertices, int edges) {
    (void)edges;
    for (int v = 0; v < vertices; ++v) level[v] = -1;
    std::vector<int> queue(vertices);
    int head = 0, tail = 0;
    level[0] = 0;
    queue[tail++] = 0;
    while (head < tail) {
        const int u = queue[head++];
        for (int k = start[u]; k < start[u + 1]; ++k) {
            const int v = target[k];
            if (level[v] < 0) {
                level[v] = level[u] + 1;
                queue[tail++] = v;
            }
        }
    }
}
