// inside[i] = whether point (px[i], py[i]) lies inside the closed polygon (vx, vy) of m corners: even-odd rule.
extern "C" void points_in_polygon(const int* px, const int* py, const int* vx, const int* vy, unsigned char* inside,
                                  int n, int m) {
    for (int i = 0; i < n; ++i) {
        const int x = px[i], y = py[i];
        int odd = 0;
        for (int j = 0, last = m - 1; j < m; last = j++) {
            if ((vy[j] > y) != (vy[last] > y)) {
                const int dx = vx[last] - vx[j], dy = vy[last] - vy[j];
                const int side = dx * (y - vy[j]) - dy * (x - vx[j]);
                if (dy > 0 ? side > 0 : side < 0) {
                    odd ^= 1;
                }
            }
        }
        inside[i] = odd;
    }
}
