#include <cuda_runtime.h>
#include <cstring>

__device__ int alive(unsigned char c) { return c ? 1 : 0; }
__global__ void kernel(const unsigned char* world, unsigned char* next, unsigned width, unsigned height) {
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x >= width) return;
    const unsigned char* above = world + (size_t)((y + height - 1) % height) * width;
    const unsigned char* row = world + (size_t)y * width;
    const unsigned char* below = world + (size_t)((y + 1) % height) * width;
    unsigned l = x == 0 ? width - 1 : x - 1, r = x == width - 1 ? 0 : x + 1;
    int n = alive(above[l]) + alive(above[x]) + alive(above[r]) + alive(row[l]) + alive(row[r]) + alive(below[l]) + alive(below[x]) + alive(below[r]);
    next[(size_t)y * width + x] = n == 2 ? row[x] : n == 3 ? 1 : 0;
}
void launch(const unsigned char* world, unsigned char* next, unsigned int width, unsigned int height) {
    if (width > 0 && height > 0) kernel<<<dim3((width + 127) / 128, height), 128>>>(world, next, width, height);
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

extern "C" void evolve_entry(const unsigned char* world, unsigned char* next, unsigned int width, unsigned int height) {
    const size_t world_bytes = sizeof(unsigned char) * height * width;
    const size_t next_bytes = sizeof(unsigned char) * height * width;
    unsigned char* d_world = static_cast<unsigned char*>(device_memory(0, world_bytes));
    unsigned char* d_next = static_cast<unsigned char*>(device_memory(1, next_bytes));
    cudaMemcpy(d_world, world, world_bytes, cudaMemcpyHostToDevice);
    launch(d_world, d_next, width, height);
    cudaMemcpy(next, d_next, next_bytes, cudaMemcpyDeviceToHost);
}
