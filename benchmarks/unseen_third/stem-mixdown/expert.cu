// Four samples per thread by 16-byte loads where tracks begin at 16 bytes, one otherwise; eight tracks in flight.
#include <cuda_runtime.h>

__device__ __forceinline__ float limited(float v) { return v / (1.0f + fabsf(v)); }

__global__ void __launch_bounds__(256) by_fours(const float4* __restrict__ stems, const float* __restrict__ gain,
                                                const float* __restrict__ pan, float4* __restrict__ left,
                                                float4* __restrict__ right, int tracks, int fours) {
    const int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= fours) return;
    float4 l = {0, 0, 0, 0}, r = {0, 0, 0, 0};
#pragma unroll 8
    for (int t = 0; t < tracks; ++t) {
        const float4 v = stems[(size_t)t * fours + s];
        const float g = gain[t], to_right = pan[t], to_left = 1.0f - to_right;
        l.x += v.x * g * to_left;
        l.y += v.y * g * to_left;
        l.z += v.z * g * to_left;
        l.w += v.w * g * to_left;
        r.x += v.x * g * to_right;
        r.y += v.y * g * to_right;
        r.z += v.z * g * to_right;
        r.w += v.w * g * to_right;
    }
    left[s] = {limited(l.x), limited(l.y), limited(l.z), limited(l.w)};
    right[s] = {limited(r.x), limited(r.y), limited(r.z), limited(r.w)};
}

__global__ void __launch_bounds__(256) by_ones(const float* __restrict__ stems, const float* __restrict__ gain,
                                               const float* __restrict__ pan, float* __restrict__ left,
                                               float* __restrict__ right, int tracks, int samples) {
    const int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= samples) return;
    float l = 0, r = 0;
#pragma unroll 8
    for (int t = 0; t < tracks; ++t) {
        const float x = stems[(size_t)t * samples + s] * gain[t];
        l += x * (1.0f - pan[t]);
        r += x * pan[t];
    }
    left[s] = limited(l);
    right[s] = limited(r);
}

extern "C" void stem_mixdown(const float* stems, const float* gain, const float* pan, float* left, float* right,
                             int tracks, int samples) {
    if (samples % 4 == 0) {
        const int fours = samples / 4;
        by_fours<<<(fours + 255) / 256, 256>>>((const float4*)stems, gain, pan, (float4*)left, (float4*)right, tracks,
                                               fours);
    } else {
        by_ones<<<(samples + 255) / 256, 256>>>(stems, gain, pan, left, right, tracks, samples);
    }
}
