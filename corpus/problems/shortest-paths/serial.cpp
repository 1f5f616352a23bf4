// distance[v] = least sum of weights of a path from vertex 0, or 1 << 30; u has edges start[u] <= k < start[u + 1].
extern "C" void shortest_paths(const int* start, const int* target, const int* weight, int* distance,
                               int vertices, int edges) {
    (void)edges;
    const int far = 1 << 30;
    for (int v = 0; v < vertices; ++v) distance[v] = far;
    distance[0] = 0;
    bool changed = true;
    while (changed) {
        changed = false;
        for (int u = 0; u < vertices; ++u) {
            if (distance[u] == far) continue;
            for (int k = start[u]; k < start[u + 1]; ++k) {
                const int d = distance[u] + weight[k];
                if (d < distance[target[k]]) {
                    distance[target[k]] = d;
                    changed = true;
                }
            }
        }
    }
}
