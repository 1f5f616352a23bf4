// count[u] = triangles u < v < w. near[u*degree ...] are the neighbours of u above u, ascending, filled up with `vertices`.
extern "C" void triangle_counts(const int* near, int* count, int vertices, int degree) {
    for (int u = 0; u < vertices; ++u) {
        const int* mine = near + (long)u * degree;
        int found = 0;
        for (int n = 0; n < degree && mine[n] < vertices; ++n) {
            const int* theirs = near + (long)mine[n] * degree;
            int i = 0, j = 0;
            while (i < degree && j < degree && mine[i] < vertices && theirs[j] < vertices) {
                if (mine[i] < theirs[j]) {
                    ++i;
                } else if (mine[i] > theirs[j]) {
                    ++j;
                } else {
                    ++found, ++i, ++j;
                }
            }
        }
        count[u] = found;
    }
}
