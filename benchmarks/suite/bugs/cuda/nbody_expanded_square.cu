// problem: corpus/problems/nbody
// bug: |pi|^2 + |pj|^2 - 2 pi pj cancels: negative squares and NaN where bodies lie far from the origin
// class: value
#include <cuda_runtime.h>

#include <vector>

#define BLOCK 128

// body: position and mass; norm: |position|^2, computed once for each body
__global__ void nbody_kernel(const float4* body, const float* norm, float* acceleration, int n) {
    __shared__ float4 tile[BLOCK];
    __shared__ float tile_norm[BLOCK];
    const float softening = 0.01f;
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float4 me = i < n ? body[i] : make_float4(0, 0, 0, 0);
    float my_norm = i < n ? norm[i] : 0.0f;
    float ax = 0, ay = 0, az = 0;
    for (int base = 0; base < n; base += BLOCK) {
        int j = base + threadIdx.x;
        tile[threadIdx.x] = j < n ? body[j] : make_float4(0, 0, 0, 0);
        tile_norm[threadIdx.x] = j < n ? norm[j] : 0.0f;
        __syncthreads();
        int count = min(BLOCK, n - base);
        for (int k = 0; k < count; ++k) {
            float4 other = tile[k];
            float dot = me.x * other.x + me.y * other.y + me.z * other.z;
            float square = my_norm + tile_norm[k] - 2.0f * dot + softening;
            float inverse = rsqrtf(square);
            float pull = other.w * inverse * inverse * inverse;
            ax += pull * (other.x - me.x);
            ay += pull * (other.y - me.y);
            az += pull * (other.z - me.z);
        }
        __syncthreads();
    }
    if (i < n) {
        acceleration[3 * i] = ax;
        acceleration[3 * i + 1] = ay;
        acceleration[3 * i + 2] = az;
    }
}

extern "C" void nbody(const float* position, const float* mass, float* acceleration, int n) {
    std::vector<float4> bodies(n);
    std::vector<float> norms(n);
    for (int i = 0; i < n; ++i) {
        float x = position[3 * i], y = position[3 * i + 1], z = position[3 * i + 2];
        bodies[i] = make_float4(x, y, z, mass[i]);
        norms[i] = x * x + y * y + z * z;
    }
    float4* d_body;
    float *d_norm, *d_acceleration;
    cudaMalloc(&d_body, n * sizeof(float4));
    cudaMalloc(&d_norm, n * sizeof(float));
    cudaMalloc(&d_acceleration, 3 * n * sizeof(float));
    cudaMemcpy(d_body, bodies.data(), n * sizeof(float4), cudaMemcpyHostToDevice);
    cudaMemcpy(d_norm, norms.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    nbody_kernel<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(d_body, d_norm, d_acceleration, n);
    cudaMemcpy(acceleration, d_acceleration, 3 * n * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(d_body);
    cudaFree(d_norm);
    cudaFree(d_acceleration);
}
