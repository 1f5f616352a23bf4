// A thread makes 4 by 2 pixels: two words of luma, two samples of each chroma plane, and six words of packed
// colours. Widths that do not divide by four go pixel by pixel.
#include <cuda_runtime.h>

__device__ __forceinline__ unsigned clip(int value) { return (unsigned)min(max(value, 0), 255); }

struct Added {
    int red, green, blue;
};

__device__ __forceinline__ Added added(int u, int v) {
    const int d = u - 128, e = v - 128;
    return {128 + 409 * e, 128 - 100 * d - 208 * e, 128 + 516 * d};
}

__global__ void __launch_bounds__(128) by_words(const unsigned char* __restrict__ luma,
                                                const unsigned char* __restrict__ u,
                                                const unsigned char* __restrict__ v, unsigned char* __restrict__ rgb,
                                                int rows, int w) {
    const int pair = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (2 * pair >= w || row >= rows) return;
    const size_t chroma = (size_t)row * w + 2 * pair;
    const unsigned short us = *reinterpret_cast<const unsigned short*>(u + chroma);
    const unsigned short vs = *reinterpret_cast<const unsigned short*>(v + chroma);
    const Added left = added(us & 255, vs & 255), right = added(us >> 8, vs >> 8);
#pragma unroll
    for (int below = 0; below < 2; ++below) {
        const size_t at = (2 * (size_t)row + below) * 2 * w + 4 * pair;
        const unsigned y = *reinterpret_cast<const unsigned*>(luma + at);
        unsigned byte[12];
#pragma unroll
        for (int x = 0; x < 4; ++x) {
            const int c = 298 * ((int)(y >> 8 * x & 255) - 16);
            const Added more = x < 2 ? left : right;
            byte[3 * x] = clip((c + more.red) >> 8);
            byte[3 * x + 1] = clip((c + more.green) >> 8);
            byte[3 * x + 2] = clip((c + more.blue) >> 8);
        }
        unsigned* out = reinterpret_cast<unsigned*>(rgb + 3 * at);
#pragma unroll
        for (int q = 0; q < 3; ++q) {
            out[q] = byte[4 * q] | byte[4 * q + 1] << 8 | byte[4 * q + 2] << 16 | byte[4 * q + 3] << 24;
        }
    }
}

__global__ void by_pixels(const unsigned char* __restrict__ luma, const unsigned char* __restrict__ u,
                          const unsigned char* __restrict__ v, unsigned char* __restrict__ rgb, int rows, int w) {
    const size_t at = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (at >= 4 * (size_t)rows * w) return;
    const size_t row = at / (2 * w), chroma = row / 2 * w + at % (2 * w) / 2;
    const int c = 298 * (luma[at] - 16);
    const Added more = added(u[chroma], v[chroma]);
    rgb[3 * at] = (unsigned char)clip((c + more.red) >> 8);
    rgb[3 * at + 1] = (unsigned char)clip((c + more.green) >> 8);
    rgb[3 * at + 2] = (unsigned char)clip((c + more.blue) >> 8);
}

extern "C" void yuv_frames(const unsigned char* luma, const unsigned char* u, const unsigned char* v,
                           unsigned char* rgb, int frames, int h, int w) {
    const int rows = frames * h;  // of chroma; frames lie one after the other
    if (w % 2 == 0 && rows <= 4 * 65535) {
        const dim3 blocks((w / 2 + 31) / 32, (rows + 3) / 4);
        by_words<<<blocks, dim3(32, 4)>>>(luma, u, v, rgb, rows, w);
    } else {
        const unsigned blocks = (unsigned)((4 * (size_t)rows * w + 255) / 256);
        by_pixels<<<blocks, 256>>>(luma, u, v, rgb, rows, w);
    }
}
