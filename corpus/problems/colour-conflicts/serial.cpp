// conflicts[v] = number of k in start[v] ... start[v + 1] whose neighbour[k] has the colour of v (0 to 255).
extern "C" void colour_conflicts(const int* start, const int* neighbour, const int* colour, int* conflicts,
                                 int vertices, int edges) {
    (void)edges;
    for (int v = 0; v < vertices; ++v) {
        int same = 0;
        for (int k = start[v]; k < start[v + 1]; ++k) {
            if (colour[neighbour[k]] == colour[v]) ++same;
        }
        conflicts[v] = same;
    }
}
