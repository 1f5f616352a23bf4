#include <algorithm>
#include <vector>

// histogram[d] = number of vertices that occur d times in source; the last bin takes all above.
extern "C" void degree_histogram(const int* source, int* histogram, int vertices, int edges, int bins) {
    std::vector<int> degree(vertices);
    for (int e = 0; e < edges; ++e) ++degree[source[e]];
    for (int d = 0; d < bins; ++d) histogram[d] = 0;
    for (int v = 0; v < vertices; ++v) ++histogram[std::min(degree[v], bins - 1)];
}
