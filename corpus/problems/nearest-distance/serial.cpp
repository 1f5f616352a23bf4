// out[i] = the least squared distance of point i of p to a point of q (three coordinates each).
extern "C" void nearest_distance(const float* p, const float* q, float* out, int n, int m) {
    for (int i = 0; i < n; ++i) {
        const float x = p[3 * i], y = p[3 * i + 1], z = p[3 * i + 2];
        float best = 3.0e38f;
        for (int j = 0; j < m; ++j) {
            const float dx = q[3 * j] - x, dy = q[3 * j + 1] - y, dz = q[3 * j + 2] - z;
            const float square = dx * dx + dy * dy + dz * dz;
            best = square < best ? square : best;
        }
        out[i] = best;
    }
}
