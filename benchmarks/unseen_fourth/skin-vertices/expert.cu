// A thread per vertex. The matrices lie in shared memory, 13 words apart, so that lanes with
// different bones seldom meet at a bank; vertices come and go through shared memory as whole lines.
#include <cuda_runtime.h>

struct Vertex {
    float x, y, z;
    float nx, ny, nz;
};

constexpr int kBlock = 256, kStep = 13;

__global__ void __launch_bounds__(kBlock) run(const float* __restrict__ bones, const float* __restrict__ rest,
                                              const uchar4* __restrict__ joint, const float4* __restrict__ weight,
                                              float* __restrict__ posed, int nbones, int vertices) {
    __shared__ float matrix[256 * kStep];
    __shared__ float stage[6 * kBlock];
    for (int i = threadIdx.x; i < 12 * nbones; i += kBlock) matrix[i / 12 * kStep + i % 12] = bones[i];
    for (int first = blockIdx.x * kBlock; first < vertices; first += gridDim.x * kBlock) {
        const int here = min(kBlock, vertices - first), t = threadIdx.x;
        const size_t base = (size_t)first * 6;
        for (int i = t; i < 6 * here; i += kBlock) stage[i] = rest[base + i];
        __syncthreads();
        if (t < here) {
            const uchar4 j = joint[first + t];
            const float4 w = weight[first + t];
            const float scale = 1.0f / (w.x + w.y + w.z + w.w);
            const float *a = matrix + j.x * kStep, *b = matrix + j.y * kStep, *c = matrix + j.z * kStep,
                        *d = matrix + j.w * kStep;
            float m[12];
#pragma unroll
            for (int i = 0; i < 12; ++i) m[i] = (w.x * a[i] + w.y * b[i] + w.z * c[i] + w.w * d[i]) * scale;
            float* v = stage + 6 * t;
            const float x = v[0], y = v[1], z = v[2], nx = v[3], ny = v[4], nz = v[5];
            v[0] = m[0] * x + m[1] * y + m[2] * z + m[3];
            v[1] = m[4] * x + m[5] * y + m[6] * z + m[7];
            v[2] = m[8] * x + m[9] * y + m[10] * z + m[11];
            const float ox = m[0] * nx + m[1] * ny + m[2] * nz, oy = m[4] * nx + m[5] * ny + m[6] * nz;
            const float oz = m[8] * nx + m[9] * ny + m[10] * nz;
            const float length = sqrtf(ox * ox + oy * oy + oz * oz), unit = length > 0.0f ? 1.0f / length : 0.0f;
            v[3] = ox * unit;
            v[4] = oy * unit;
            v[5] = oz * unit;
        }
        __syncthreads();
        for (int i = t; i < 6 * here; i += kBlock) posed[base + i] = stage[i];
        __syncthreads();
    }
}

extern "C" void skin_vertices(const float* bones, const Vertex* rest, const unsigned char* joint, const float* weight,
                              Vertex* posed, int nbones, int vertices) {
    const int blocks = min((vertices + kBlock - 1) / kBlock, 1056);
    run<<<blocks, kBlock>>>(bones, (const float*)rest, (const uchar4*)joint, (const float4*)weight, (float*)posed,
                            nbones, vertices);
}
