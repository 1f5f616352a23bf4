// box[6*g ..] = least x, y, z and largest x, y, z of points start[g] to start[g + 1] - 1; no group is empty.
extern "C" void group_boxes(const float* point, const int* start, float* box, int n, int groups) {
    (void)n;
    for (int g = 0; g < groups; ++g) {
        float low[3], high[3];
        for (int d = 0; d < 3; ++d) low[d] = high[d] = point[3L * start[g] + d];
        for (long p = start[g] + 1; p < start[g + 1]; ++p) {
            for (int d = 0; d < 3; ++d) {
                const float v = point[3 * p + d];
                low[d] = v < low[d] ? v : low[d];
                high[d] = v > high[d] ? v : high[d];
            }
        }
        for (int d = 0; d < 3; ++d) {
            box[6L * g + d] = low[d];
            box[6L * g + 3 + d] = high[d];
        }
    }
}
