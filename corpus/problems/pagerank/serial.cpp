#include <vector>

// `iterations` times rank[v] = 0.15 + 0.85 * sum of rank[u] / degree[u] over u = source[start[v]] ... .
extern "C" void pagerank(const int* start, const int* source, const int* degree, float* rank, int vertices,
                         int edges, int iterations) {
    (void)edges;
    std::vector<float> next(vertices);
    for (int t = 0; t < iterations; ++t) {
        for (int v = 0; v < vertices; ++v) {
            float sum = 0.0f;
            for (int k = start[v]; k < start[v + 1]; ++k) sum += rank[source[k]] / degree[source[k]];
            next[v] = 0.15f + 0.85f * sum;
        }
        for (int v = 0; v < vertices; ++v) rank[v] = next[v];
    }
}
