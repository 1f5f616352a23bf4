// A thread per track, state and covariance in registers, products with F and I - K H written out. Warps bring
// covariances and plots through shared memory, so that loads and stores are coalesced.
#include <cuda_runtime.h>

constexpr int kTracks = 64, kScans = 8;

__global__ void __launch_bounds__(kTracks) follow(double* __restrict__ state, double* __restrict__ covariance,
                                                  const double* __restrict__ plots, double dt, double noise,
                                                  double spread, int tracks, int scans) {
    __shared__ double tile[kTracks][17];  // 17: rows of neighbours lie in other banks
    const int t = threadIdx.x, first = blockIdx.x * kTracks, count = min(kTracks, tracks - first);
    for (int e = t; e < 16 * count; e += kTracks) tile[e / 16][e % 16] = covariance[16 * (size_t)first + e];
    __syncthreads();
    double p[4][4], x[4];
#pragma unroll
    for (int e = 0; e < 16; ++e) p[e / 4][e % 4] = tile[t][e];
    const size_t own = first + min(t, count - 1);
    const double2 place = reinterpret_cast<const double2*>(state)[2 * own];
    const double2 speed = reinterpret_cast<const double2*>(state)[2 * own + 1];
    x[0] = place.x, x[1] = place.y, x[2] = speed.x, x[3] = speed.y;
    for (int s0 = 0; s0 < scans; s0 += kScans) {
        const int n = min(kScans, scans - s0);
        __syncthreads();
        for (int e = t; e < count * 2 * n; e += kTracks) {
            const int track = e / (2 * n), part = e % (2 * n);
            tile[track][part] = plots[2 * ((size_t)(first + track) * scans + s0) + part];
        }
        __syncthreads();
        for (int s = 0; s < n; ++s) {
            x[0] += dt * x[2];
            x[1] += dt * x[3];
#pragma unroll
            for (int j = 0; j < 4; ++j) {
                p[0][j] += dt * p[2][j];
                p[1][j] += dt * p[3][j];
            }
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                p[i][0] += dt * p[i][2];
                p[i][1] += dt * p[i][3];
            }
#pragma unroll
            for (int i = 0; i < 4; ++i) p[i][i] += noise;
            const double s00 = p[0][0] + spread, s01 = p[0][1], s10 = p[1][0], s11 = p[1][1] + spread;
            const double scale = 1.0 / (s00 * s11 - s01 * s10);
            const double rx = tile[t][2 * s] - x[0], ry = tile[t][2 * s + 1] - x[1];
            const double p0[4] = {p[0][0], p[0][1], p[0][2], p[0][3]}, p1[4] = {p[1][0], p[1][1], p[1][2], p[1][3]};
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                const double g0 = (p[i][0] * s11 - p[i][1] * s10) * scale;
                const double g1 = (p[i][1] * s00 - p[i][0] * s01) * scale;
                x[i] += g0 * rx + g1 * ry;
#pragma unroll
                for (int j = 0; j < 4; ++j) p[i][j] -= g0 * p0[j] + g1 * p1[j];
            }
        }
    }
    __syncthreads();
#pragma unroll
    for (int e = 0; e < 16; ++e) tile[t][e] = p[e / 4][e % 4];
    if (t < count) {
        reinterpret_cast<double2*>(state)[2 * own] = make_double2(x[0], x[1]);
        reinterpret_cast<double2*>(state)[2 * own + 1] = make_double2(x[2], x[3]);
    }
    __syncthreads();
    for (int e = t; e < 16 * count; e += kTracks) covariance[16 * (size_t)first + e] = tile[e / 16][e % 16];
}

extern "C" void kalman_tracks(double* state, double* covariance, const double* plots, double dt, double noise,
                              double spread, int tracks, int scans) {
    follow<<<(tracks + kTracks - 1) / kTracks, kTracks>>>(state, covariance, plots, dt, noise, spread, tracks, scans);
}
