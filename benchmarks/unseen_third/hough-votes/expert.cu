// A block has two angles and a share of the points; votes are counted in shared memory and added to the whole at the
// end.
#include <cuda_runtime.h>

__global__ void __launch_bounds__(512) count_votes(const int* __restrict__ px, const int* __restrict__ py,
                                                   const int* __restrict__ cosine, const int* __restrict__ sine,
                                                   int* __restrict__ votes, int points, int angles, int places,
                                                   int each) {
    extern __shared__ int own[];
    const int a = blockIdx.x * each, b = min(a + each - 1, angles - 1);
    const int ca = cosine[a], sa = sine[a], cb = cosine[b], sb = sine[b];
    const int here = (b - a + 1) * places, middle = places / 2;
    for (int k = threadIdx.x; k < here; k += blockDim.x) own[k] = 0;
    __syncthreads();
    const int stride = gridDim.y * blockDim.x;
#pragma unroll 4
    for (int p = blockIdx.y * blockDim.x + threadIdx.x; p < points; p += stride) {
        const int x = px[p], y = py[p];
        atomicAdd(&own[middle + ((x * ca + y * sa) >> 14)], 1);
        if (b > a) atomicAdd(&own[places + middle + ((x * cb + y * sb) >> 14)], 1);
    }
    __syncthreads();
    for (int k = threadIdx.x; k < here; k += blockDim.x) {
        if (own[k]) atomicAdd(&votes[(size_t)a * places + k], own[k]);
    }
}

extern "C" void hough_votes(const int* px, const int* py, const int* cosine, const int* sine, int* votes, int points,
                            int angles, int w, int h) {
    const int places = 2 * (w + h) + 1;
    const int each = 2 * places * (int)sizeof(int) <= 200 * 1024 ? 2 : 1;
    const int bytes = each * places * (int)sizeof(int), groups = (angles + each - 1) / each;
    int parts = (132 * 4 + groups - 1) / groups;
    const int most = (points + 511) / 512;
    if (parts > most) parts = most;
    cudaMemsetAsync(votes, 0, sizeof(int) * (size_t)angles * places, 0);
    cudaFuncSetAttribute(count_votes, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    count_votes<<<dim3(groups, parts), 512, bytes>>>(px, py, cosine, sine, votes, points, angles, places, each);
}
