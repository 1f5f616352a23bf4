// Products with the sparse matrices F and I - K H are written out (5 times fewer operations), and eight tracks
// share a vector: a block of them is transposed into arrays by element, filtered, and put back.
#include <algorithm>
#include <cstddef>

namespace {
constexpr int kWide = 16;  // two vectors of doubles, for latency

struct Block {
    alignas(64) double x[4][kWide], p[4][4][kWide];
};

inline void step(Block& b, const double* zx, const double* zy, double dt, double noise, double spread) {
#pragma omp simd
    for (int t = 0; t < kWide; ++t) {
        double x[4], p[4][4], fp[4][4];
        for (int i = 0; i < 4; ++i) {
            x[i] = b.x[i][t];
            for (int j = 0; j < 4; ++j) p[i][j] = b.p[i][j][t];
        }
        x[0] += dt * x[2];
        x[1] += dt * x[3];
        for (int j = 0; j < 4; ++j) {  // F P
            fp[0][j] = p[0][j] + dt * p[2][j];
            fp[1][j] = p[1][j] + dt * p[3][j];
            fp[2][j] = p[2][j];
            fp[3][j] = p[3][j];
        }
        for (int i = 0; i < 4; ++i) {  // (F P) F'
            p[i][0] = fp[i][0] + dt * fp[i][2];
            p[i][1] = fp[i][1] + dt * fp[i][3];
            p[i][2] = fp[i][2];
            p[i][3] = fp[i][3];
        }
        for (int i = 0; i < 4; ++i) p[i][i] += noise;

        const double s00 = p[0][0] + spread, s01 = p[0][1], s10 = p[1][0], s11 = p[1][1] + spread;
        const double scale = 1.0 / (s00 * s11 - s01 * s10), rx = zx[t] - x[0], ry = zy[t] - x[1];
        const double p0[4] = {p[0][0], p[0][1], p[0][2], p[0][3]}, p1[4] = {p[1][0], p[1][1], p[1][2], p[1][3]};
        for (int i = 0; i < 4; ++i) {
            const double g0 = (p[i][0] * s11 - p[i][1] * s10) * scale, g1 = (p[i][1] * s00 - p[i][0] * s01) * scale;
            b.x[i][t] = x[i] + g0 * rx + g1 * ry;
            for (int j = 0; j < 4; ++j) b.p[i][j][t] = p[i][j] - (g0 * p0[j] + g1 * p1[j]);
        }
    }
}
}  // namespace

extern "C" void kalman_tracks(double* __restrict state, double* __restrict covariance, const double* __restrict plots,
                              double dt, double noise, double spread, int tracks, int scans) {
#pragma omp parallel for schedule(static)
    for (int first = 0; first < tracks; first += kWide) {
        const int count = std::min(kWide, tracks - first);
        Block b;
        size_t at[kWide];
        for (int t = 0; t < kWide; ++t) at[t] = first + std::min(t, count - 1);  // the last one fills the block
        for (int t = 0; t < kWide; ++t) {
            for (int i = 0; i < 4; ++i) b.x[i][t] = state[4 * at[t] + i];
            for (int e = 0; e < 16; ++e) b.p[e / 4][e % 4][t] = covariance[16 * at[t] + e];
        }
        for (int s = 0; s < scans; ++s) {
            alignas(64) double zx[kWide], zy[kWide];
            for (int t = 0; t < kWide; ++t) {
                zx[t] = plots[2 * (at[t] * scans + s)];
                zy[t] = plots[2 * (at[t] * scans + s) + 1];
            }
            step(b, zx, zy, dt, noise, spread);
        }
        for (int t = 0; t < count; ++t) {
            for (int i = 0; i < 4; ++i) state[4 * at[t] + i] = b.x[i][t];
            for (int e = 0; e < 16; ++e) covariance[16 * at[t] + e] = b.p[e / 4][e % 4][t];
        }
    }
}
