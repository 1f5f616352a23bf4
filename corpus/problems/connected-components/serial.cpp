static int root(int* parent, int v) {
    while (parent[v] != v) {
        parent[v] = parent[parent[v]];
        v = parent[v];
    }
    return v;
}

// label[v] = the smallest vertex that is connected with v by edges from[e] - to[e].
extern "C" void connected_components(const int* from, const int* to, int* label, int vertices, int edges) {
    for (int v = 0; v < vertices; ++v) label[v] = v;
    for (int e = 0; e < edges; ++e) {
        const int a = root(label, from[e]), b = root(label, to[e]);
        if (a < b) label[b] = a;
        if (b < a) label[a] = b;
    }
    for (int v = 0; v < vertices; ++v) label[v] = root(label, v);
}
