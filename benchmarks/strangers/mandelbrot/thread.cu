#include <cuda_runtime.h>

__global__ void kernel(int* out, int width, int height, double x0, double y0, double dx, double dy, int max_iter) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y;
    if (i >= width) return;
    double c_re = x0 + i * dx, c_im = y0 + j * dy, re = c_re, im = c_im;
    int it;
    for (it = 0; it < max_iter; ++it) {
        if (re * re + im * im > 4.0) break;
        double r = re * re - im * im, m = 2.0 * re * im;
        re = c_re + r;
        im = c_im + m;
    }
    out[j * width + i] = it;
}
void launch(int* out, int width, int height, double x0, double y0, double x1, double y1, int max_iter) {
    if (width > 0 && height > 0)
        kernel<<<dim3((width + 127) / 128, height), 128>>>(out, width, height, x0, y0, (x1 - x0) / width, (y1 - y0) / height, max_iter);
}

// Device memory, kept from call to call and made anew where a call needs more.
// Not for several threads at once.
static void* device_memory(int which, size_t bytes) {
    static void* memory[1];
    static size_t room[1];
    if (bytes > room[which]) {
        cudaFree(memory[which]);
        memory[which] = nullptr;
        room[which] = cudaMalloc(&memory[which], bytes) == cudaSuccess ? bytes : 0;
    }
    return memory[which];
}

extern "C" void mandelbrot_entry(int* out, int width, int height, double x0, double y0, double x1, double y1, int max_iter) {
    const size_t out_bytes = sizeof(int) * width * height;
    int* d_out = static_cast<int*>(device_memory(0, out_bytes));
    launch(d_out, width, height, x0, y0, x1, y1, max_iter);
    cudaMemcpy(out, d_out, out_bytes, cudaMemcpyDeviceToHost);
}
