// For each point in the plane the nearest of k centres.
extern "C" void nearest_center_entry(const float* px, const float* py, const float* cx, const float* cy, int* nearest, int n, int k) {
    for (int i = 0; i < n; ++i) {
        float best = 1e30f;
        int at = 0;
        for (int j = 0; j < k; ++j) {
            const float dx = px[i] - cx[j], dy = py[i] - cy[j];
            const float distance = dx * dx + dy * dy;
            if (distance < best) {
                best = distance;
                at = j;
            }
        }
        nearest[i] = at;
    }
}
