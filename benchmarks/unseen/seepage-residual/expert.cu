// Blocks march along z with the layer's heads and conductivities in registers: the flow through the upper face is
// the next layer's flow through the lower one, and neighbours in x and y come from a tile in shared memory.
#include <cuda_runtime.h>

constexpr int kX = 32, kY = 8, kDepth = 16;

__device__ __forceinline__ float flow(float ka, float kb, float ha, float hb) {
    return __fdividef(2.0f * ka * kb, ka + kb) * (hb - ha);
}

__global__ void __launch_bounds__(kX* kY) balance(const float* __restrict__ head, const float* __restrict__ conductivity,
                                                  const float* __restrict__ source, float* __restrict__ residual,
                                                  int* largest, int nz, int ny, int nx) {
    __shared__ float h[2][kY + 2][kX + 2], k[2][kY + 2][kX + 2];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int x = blockIdx.x * kX + tx, y = blockIdx.y * kY + ty;
    const int z0 = blockIdx.z * kDepth, z1 = min(z0 + kDepth, nz);
    const int cx = min(x, nx - 1), cy = min(y, ny - 1);
    const bool inside = x < nx && y < ny;
    const size_t layer = (size_t)nx * ny, column = (size_t)cy * nx + cx;
    // cells beyond the border are the cell at the border: no difference, no flow
    const size_t west = (size_t)cy * nx + max(cx - 1, 0), east = (size_t)cy * nx + min(cx + 1, nx - 1);
    const size_t north = (size_t)max(cy - 1, 0) * nx + cx, south = (size_t)min(cy + 1, ny - 1) * nx + cx;

    float most = 0;
    size_t at = z0 * layer + column;
    float h_here = head[at], k_here = conductivity[at], from_below = 0;
    if (z0 > 0) from_below = flow(k_here, conductivity[at - layer], h_here, head[at - layer]);
    for (int z = z0; z < z1; ++z, at += layer) {
        float(*hs)[kX + 2] = h[z % 2], (*ks)[kX + 2] = k[z % 2];
        const size_t base = z * layer;
        hs[ty + 1][tx + 1] = h_here;
        ks[ty + 1][tx + 1] = k_here;
        if (tx == 0) hs[ty + 1][0] = head[base + west], ks[ty + 1][0] = conductivity[base + west];
        if (tx == kX - 1) hs[ty + 1][kX + 1] = head[base + east], ks[ty + 1][kX + 1] = conductivity[base + east];
        if (ty == 0) hs[0][tx + 1] = head[base + north], ks[0][tx + 1] = conductivity[base + north];
        if (ty == kY - 1) hs[kY + 1][tx + 1] = head[base + south], ks[kY + 1][tx + 1] = conductivity[base + south];
        float h_next = h_here, k_next = k_here;
        if (z + 1 < nz) h_next = head[at + layer], k_next = conductivity[at + layer];
        const float from_above = flow(k_here, k_next, h_here, h_next);
        __syncthreads();  // one barrier per layer: the tile of the layer before is still read
        if (inside) {
            float sum = source[at];
            if (x > 0) sum += flow(k_here, ks[ty + 1][tx], h_here, hs[ty + 1][tx]);
            if (x < nx - 1) sum += flow(k_here, ks[ty + 1][tx + 2], h_here, hs[ty + 1][tx + 2]);
            if (y > 0) sum += flow(k_here, ks[ty][tx + 1], h_here, hs[ty][tx + 1]);
            if (y < ny - 1) sum += flow(k_here, ks[ty + 2][tx + 1], h_here, hs[ty + 2][tx + 1]);
            sum += from_below + from_above;
            residual[at] = sum;
            most = fmaxf(most, fabsf(sum));
        }
        from_below = -from_above;
        h_here = h_next;
        k_here = k_next;
    }
    for (int half = 16; half > 0; half /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, half));
    if (tx == 0) atomicMax(largest, __float_as_int(most));  // floats that are not negative order as integers
}

extern "C" void seepage_residual(const float* head, const float* conductivity, const float* source, float* residual,
                                 float* largest, int nz, int ny, int nx) {
    cudaMemsetAsync(largest, 0, sizeof(float), 0);
    const dim3 blocks((nx + kX - 1) / kX, (ny + kY - 1) / kY, (nz + kDepth - 1) / kDepth);
    balance<<<blocks, dim3(kX, kY)>>>(head, conductivity, source, residual, (int*)largest, nz, ny, nx);
}
