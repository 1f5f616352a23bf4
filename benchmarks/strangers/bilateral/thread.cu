#include <cuda_runtime.h>
#include <cmath>

__device__ int clampi(int v, int lo, int hi) { return v < lo ? lo : (v > hi ? hi : v); }
__global__ void kernel(const unsigned char* src, unsigned char* dst, int rows, int cols, int radius, float cs, float cr) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x >= cols) return;
    const int centre = src[y * cols + x];
    float sum = 0.0f, norm = 0.0f;
    for (int dy = -radius; dy <= radius; dy++) {
        const int yy = clampi(y + dy, 0, rows - 1);
        for (int dx = -radius; dx <= radius; dx++) {
            const int v = src[yy * cols + clampi(x + dx, 0, cols - 1)];
            const float diff = (float)(v - centre);
            const float w = expf(cs * (float)(dx * dx + dy * dy) + cr * diff * diff);
            sum += w * v;
            norm += w;
        }
    }
    dst[y * cols + x] = (unsigned char)(sum / norm + 0.5f);
}
void launch(const unsigned char* src, unsigned char* dst, int rows, int cols, int radius, float sigma_s, float sigma_r) {
    if (rows > 0 && cols > 0)
        kernel<<<dim3((cols + 127) / 128, rows), 128>>>(src, dst, rows, cols, radius, -0.5f / (sigma_s * sigma_s), -0.5f / (sigma_r * sigma_r));
}

// Device memory, kept from call to call and made anew where a call needs more.
// Not for several threads at once.
static void* device_memory(int which, size_t bytes) {
    static void* memory[2];
    static size_t room[2];
    if (bytes > room[which]) {
        cudaFree(memory[which]);
        memory[which] = nullptr;
        room[which] = cudaMalloc(&memory[which], bytes) == cudaSuccess ? bytes : 0;
    }
    return memory[which];
}

extern "C" void bilateral_entry(const unsigned char* src, unsigned char* dst, int rows, int cols, int radius, float sigma_s, float sigma_r) {
    const size_t src_bytes = sizeof(unsigned char) * cols * rows;
    const size_t dst_bytes = sizeof(unsigned char) * rows * cols;
    unsigned char* d_src = static_cast<unsigned char*>(device_memory(0, src_bytes));
    unsigned char* d_dst = static_cast<unsigned char*>(device_memory(1, dst_bytes));
    cudaMemcpy(d_src, src, src_bytes, cudaMemcpyHostToDevice);
    launch(d_src, d_dst, rows, cols, radius, sigma_s, sigma_r);
    cudaMemcpy(dst, d_dst, dst_bytes, cudaMemcpyDeviceToHost);
}
