#include <cuda_runtime.h>
#include <cmath>
#include <cstddef>

__device__ float cnd(float d) {
    float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
    float c = 0.39894228040143267793994605993438f * expf(-0.5f * d * d) *
              (k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
    return d > 0 ? 1.0f - c : c;
}
__global__ void kernel(float* call, float* put, const float* s, const float* x, const float* t, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float R = 0.02f, V = 0.30f, S = s[i], X = x[i], T = t[i];
    float root = sqrtf(T), d1 = (logf(S / X) + (R + 0.5f * V * V) * T) / (V * root), d2 = d1 - V * root;
    float c1 = cnd(d1), c2 = cnd(d2), e = expf(-R * T);
    call[i] = S * c1 - X * e * c2;
    put[i] = X * e * (1.0f - c2) - S * (1.0f - c1);
}
void launch(float* callResult, float* putResult, const float* stockPrice, const float* optionStrike, const float* optionYears, int optN) {
    if (optN > 0) kernel<<<(optN + 127) / 128, 128>>>(callResult, putResult, stockPrice, optionStrike, optionYears, optN);
}

// Device memory, kept from call to call and made anew where a call needs more.
// Not for several threads at once.
static void* device_memory(int which, size_t bytes) {
    static void* memory[5];
    static size_t room[5];
    if (bytes > room[which]) {
        cudaFree(memory[which]);
        memory[which] = nullptr;
        room[which] = cudaMalloc(&memory[which], bytes) == cudaSuccess ? bytes : 0;
    }
    return memory[which];
}

extern "C" void priceOptions_entry(float* callResult, float* putResult, const float* stockPrice, const float* optionStrike, const float* optionYears, int optN) {
    const size_t callResult_bytes = sizeof(float) * optN;
    const size_t putResult_bytes = sizeof(float) * optN;
    const size_t stockPrice_bytes = sizeof(float) * optN;
    const size_t optionStrike_bytes = sizeof(float) * optN;
    const size_t optionYears_bytes = sizeof(float) * optN;
    float* d_callResult = static_cast<float*>(device_memory(0, callResult_bytes));
    float* d_putResult = static_cast<float*>(device_memory(1, putResult_bytes));
    float* d_stockPrice = static_cast<float*>(device_memory(2, stockPrice_bytes));
    float* d_optionStrike = static_cast<float*>(device_memory(3, optionStrike_bytes));
    float* d_optionYears = static_cast<float*>(device_memory(4, optionYears_bytes));
    cudaMemcpy(d_stockPrice, stockPrice, stockPrice_bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(d_optionStrike, optionStrike, optionStrike_bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(d_optionYears, optionYears, optionYears_bytes, cudaMemcpyHostToDevice);
    launch(d_callResult, d_putResult, d_stockPrice, d_optionStrike, d_optionYears, optN);
    cudaMemcpy(callResult, d_callResult, callResult_bytes, cudaMemcpyDeviceToHost);
    cudaMemcpy(putResult, d_putResult, putResult_bytes, cudaMemcpyDeviceToHost);
}
