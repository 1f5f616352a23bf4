// A block per voice: a period depends on the one before only, so its samples are made at once, in shared memory. Voices
// are written out and added up by a second kernel.
#include <cuda_runtime.h>

__global__ void __launch_bounds__(256) voice(const float* __restrict__ pluck, const int* __restrict__ period,
                                             const float* __restrict__ decay, const float* __restrict__ gain,
                                             float* __restrict__ sound, int longest, int samples) {
    extern __shared__ float lines[];
    const int v = blockIdx.x, n = period[v];
    const float half = 0.5f * decay[v], loud = gain[v];
    float *now = lines, *next = lines + longest;
    float* out = sound + (size_t)v * samples;
    for (int k = threadIdx.x; k < n; k += blockDim.x) now[k] = pluck[(size_t)v * longest + k];
    __syncthreads();
    for (int first = 0; first < samples; first += n) {
        for (int k = threadIdx.x; k < n; k += blockDim.x) {
            const float here = now[k];
            // the last sample is smoothed with the first of the next period
            const float other = k + 1 < n ? now[k + 1] : half * (now[0] + now[1]);
            next[k] = half * (here + other);
            if (first + k < samples) out[first + k] = loud * here;
        }
        __syncthreads();
        float* other = now;
        now = next;
        next = other;
    }
}

__global__ void __launch_bounds__(256) sum_up(const float* __restrict__ sound, double* __restrict__ mix, int voices,
                                              int samples) {
    const int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= samples) return;
    double sum = 0.0;
#pragma unroll 8
    for (int v = 0; v < voices; ++v) sum += (double)sound[(size_t)v * samples + s];
    mix[s] = sum;
}

extern "C" void string_voices(const float* pluck, const int* period, const float* decay, const float* gain,
                              double* mix, int voices, int longest, int samples) {
    const int bytes = 2 * longest * (int)sizeof(float);
    float* sound;
    cudaMallocAsync(&sound, sizeof(float) * (size_t)voices * samples, 0);
    cudaFuncSetAttribute(voice, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    voice<<<voices, 256, bytes>>>(pluck, period, decay, gain, sound, longest, samples);
    sum_up<<<(samples + 255) / 256, 256>>>(sound, mix, voices, samples);
    cudaFreeAsync(sound, 0);
}
