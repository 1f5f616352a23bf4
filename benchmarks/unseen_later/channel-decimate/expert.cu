// The shift moves to the taps (one small kernel), and one rotation per output is left. A block makes 128 outputs
// from a tile of samples in shared memory; a thread reads the taps as broadcasts.
#include <cuda_runtime.h>

constexpr int kOuts = 128, kTaps = 64;  // outputs of a block; taps per tile

__global__ void shifted(const float* __restrict__ taps, float2* __restrict__ turned, double f, int ntaps) {
    const int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= ntaps) return;
    const double turns = f * k;
    double s, c;
    sincospi(-2.0 * (turns - floor(turns)), &s, &c);
    turned[k] = make_float2((float)(taps[k] * c), (float)(taps[k] * s));
}

__global__ void __launch_bounds__(kOuts) filter(const float2* __restrict__ iq, const float2* __restrict__ turned,
                                                float2* __restrict__ channel, double f, int outs, int ntaps,
                                                int step) {
    extern __shared__ float2 tile[];
    __shared__ float2 tap[kTaps];
    const int first = blockIdx.x * kOuts, m = first + threadIdx.x, here = min(kOuts, outs - first);
    float re = 0, im = 0;
    for (int base = 0; base < ntaps; base += kTaps) {
        const int count = min(kTaps, ntaps - base), samples = step * (here - 1) + count;
        __syncthreads();
        for (int e = threadIdx.x; e < samples; e += kOuts) {
            tile[e + e / 8] = iq[(size_t)step * first + base + e];  // a gap after 8: strides of 8 meet all banks
        }
        if (threadIdx.x < count) tap[threadIdx.x] = turned[base + threadIdx.x];
        __syncthreads();
        if (m >= outs) continue;
        for (int k = 0; k < count; ++k) {
            const int e = step * threadIdx.x + k;
            const float2 x = tile[e + e / 8], h = tap[k];
            re += x.x * h.x - x.y * h.y;
            im += x.x * h.y + x.y * h.x;
        }
    }
    if (m >= outs) return;
    const double turns = f * ((double)m * step);
    double s, c;
    sincospi(-2.0 * (turns - floor(turns)), &s, &c);
    const float cm = (float)c, sm = (float)s;
    channel[m] = make_float2(re * cm - im * sm, re * sm + im * cm);
}

extern "C" void channel_decimate(const float* iq, const float* taps, float* channel, double f, int outs, int ntaps,
                                 int step) {
    float2* turned;
    cudaMallocAsync(&turned, ntaps * sizeof(float2), 0);
    shifted<<<(ntaps + 127) / 128, 128>>>(taps, turned, f, ntaps);
    const int samples = step * (kOuts - 1) + kTaps, bytes = (samples + samples / 8 + 1) * (int)sizeof(float2);
    cudaFuncSetAttribute(filter, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    filter<<<(outs + kOuts - 1) / kOuts, kOuts, bytes>>>((const float2*)iq, turned, (float2*)channel, f, outs, ntaps,
                                                         step);
    cudaFreeAsync(turned, 0);
}
