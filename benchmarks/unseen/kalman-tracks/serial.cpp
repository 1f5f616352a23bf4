// Kalman filters of many targets: state (x, y, vx, vy) of constant velocity, of which radar measures x and y.
// Each track takes its plots in order: predict, then update.
#include <cstddef>

struct Matrix4 {
    double m[4][4];
};

static Matrix4 product(const Matrix4& a, const Matrix4& b) {
    Matrix4 c;
    for (int i = 0; i < 4; ++i) {
        for (int j = 0; j < 4; ++j) {
            c.m[i][j] = 0;
            for (int k = 0; k < 4; ++k) c.m[i][j] += a.m[i][k] * b.m[k][j];
        }
    }
    return c;
}

static Matrix4 transposed(const Matrix4& a) {
    Matrix4 t;
    for (int i = 0; i < 4; ++i) {
        for (int j = 0; j < 4; ++j) t.m[i][j] = a.m[j][i];
    }
    return t;
}

static void predict(double x[4], Matrix4& p, const Matrix4& f, double noise) {
    double moved[4];
    for (int i = 0; i < 4; ++i) {
        moved[i] = 0;
        for (int k = 0; k < 4; ++k) moved[i] += f.m[i][k] * x[k];
    }
    for (int i = 0; i < 4; ++i) x[i] = moved[i];
    p = product(product(f, p), transposed(f));
    for (int i = 0; i < 4; ++i) p.m[i][i] += noise;
}

static void update(double x[4], Matrix4& p, const double* plot, double spread) {
    // S = H P H' + R, K = P H' / S with H = (1 0 0 0; 0 1 0 0)
    const double s00 = p.m[0][0] + spread, s01 = p.m[0][1], s10 = p.m[1][0], s11 = p.m[1][1] + spread;
    const double det = s00 * s11 - s01 * s10;
    double gain[4][2];
    for (int i = 0; i < 4; ++i) {
        gain[i][0] = (p.m[i][0] * s11 - p.m[i][1] * s10) / det;
        gain[i][1] = (p.m[i][1] * s00 - p.m[i][0] * s01) / det;
    }
    const double rx = plot[0] - x[0], ry = plot[1] - x[1];
    for (int i = 0; i < 4; ++i) x[i] += gain[i][0] * rx + gain[i][1] * ry;
    Matrix4 rest = {};
    for (int i = 0; i < 4; ++i) {
        rest.m[i][i] = 1;
        rest.m[i][0] -= gain[i][0];
        rest.m[i][1] -= gain[i][1];
    }
    p = product(rest, p);
}

extern "C" void kalman_tracks(double* state, double* covariance, const double* plots, double dt, double noise,
                              double spread, int tracks, int scans) {
    Matrix4 f = {};
    for (int i = 0; i < 4; ++i) f.m[i][i] = 1;
    f.m[0][2] = f.m[1][3] = dt;
    for (int t = 0; t < tracks; ++t) {
        double* x = state + 4 * (size_t)t;
        Matrix4 p;
        for (int e = 0; e < 16; ++e) p.m[e / 4][e % 4] = covariance[16 * (size_t)t + e];
        for (int s = 0; s < scans; ++s) {
            predict(x, p, f, noise);
            update(x, p, plots + 2 * ((size_t)t * scans + s), spread);
        }
        for (int e = 0; e < 16; ++e) covariance[16 * (size_t)t + e] = p.m[e / 4][e % 4];
    }
}
