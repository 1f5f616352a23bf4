// A block takes 32 points; its eight warps share the segments, so that few points fill the GPU, too. Nodes come
// through shared memory; the distance to a node is computed once for the two segments that meet there.
#include <cuda_runtime.h>

constexpr int kPoints = 32, kParts = 8, kTile = 256;  // nodes per tile; the next one joins it to the next tile

__global__ void __launch_bounds__(kPoints* kParts) biot_savart(const double* __restrict__ wire,
                                                               const double* __restrict__ points,
                                                               double* __restrict__ field, double scale, double core2,
                                                               int nodes, int count) {
    __shared__ double tile[3 * (kTile + 1)], sums[kParts][3][kPoints];
    const int lane = threadIdx.x, part = threadIdx.y, thread = part * kPoints + lane;
    const size_t p = min((int)blockIdx.x * kPoints + lane, count - 1);
    const double px = points[3 * p], py = points[3 * p + 1], pz = points[3 * p + 2];
    double bx = 0, by = 0, bz = 0;
    for (int base = 0; base + 1 < nodes; base += kTile) {
        const int here = min(kTile + 1, nodes - base), segments = here - 1;
        __syncthreads();
        for (int e = thread; e < 3 * here; e += kPoints * kParts) tile[e] = wire[3 * (size_t)base + e];
        __syncthreads();
        const int share = (segments + kParts - 1) / kParts, begin = part * share, end = min(begin + share, segments);
        if (begin >= end) continue;
        double ax = px - tile[3 * begin], ay = py - tile[3 * begin + 1], az = pz - tile[3 * begin + 2];
        double la = sqrt(ax * ax + ay * ay + az * az);
        for (int s = begin + 1; s <= end; ++s) {
            const double x = px - tile[3 * s], y = py - tile[3 * s + 1], z = pz - tile[3 * s + 2];
            const double lb = sqrt(x * x + y * y + z * z), product = la * lb;
            const double weight = (la + lb) / (product * (product + ax * x + ay * y + az * z + core2) + 1e-12);
            bx += (ay * z - az * y) * weight;
            by += (az * x - ax * z) * weight;
            bz += (ax * y - ay * x) * weight;
            ax = x, ay = y, az = z, la = lb;
        }
    }
    sums[part][0][lane] = bx, sums[part][1][lane] = by, sums[part][2][lane] = bz;
    __syncthreads();
    const int point = blockIdx.x * kPoints + thread / 3, axis = thread % 3;
    if (thread >= 3 * kPoints || point >= count) return;
    double sum = 0;
    for (int q = 0; q < kParts; ++q) sum += sums[q][axis][thread / 3];
    field[3 * (size_t)point + axis] = scale * sum;
}

extern "C" void coil_field(const double* wire, const double* points, double* field, double current, double core,
                           int nodes, int count) {
    biot_savart<<<(count + kPoints - 1) / kPoints, dim3(kPoints, kParts)>>>(wire, points, field, 1e-7 * current,
                                                                            core * core, nodes, count);
}
