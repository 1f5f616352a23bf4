// What a week costs depends on stock and order only by their sum, so each sum is looked at once. One block walks the
// weeks: eight lanes share a sum's demands, then the least over all greater sums is a scan in shared memory, piece by
// piece from the end.
#include <cuda_runtime.h>

constexpr int kBlock = 1024, kShare = 8;

__global__ void __launch_bounds__(kBlock) run(const double* __restrict__ weight, double* __restrict__ value,
                                              double* __restrict__ expected, double fixed, double price, double storage,
                                              double penalty, int weeks, int capacity, int demands) {
    __shared__ double least[kBlock];
    const int t = threadIdx.x, states = capacity + 1, part = t % kShare;
    for (int i = t; i < states; i += kBlock) value[(size_t)weeks * states + i] = 0.0;
    __syncthreads();
    for (int week = weeks - 1; week >= 0; --week) {
        const double* row = weight + (size_t)week * demands;
        const double* later = value + (size_t)(week + 1) * states;
        double* now = value + (size_t)week * states;
        const double empty = later[0];
        for (int first = 0; first < states; first += kBlock / kShare) {  // all lanes take part in the shuffles
            const int sum = first + t / kShare;
            double cost = 0.0, total = 0.0;
            for (int d = part; d < demands && sum < states; d += kShare) {
                const int left = sum - d;
                const double chance = row[d];
                total += chance;
                cost += chance * (left >= 0 ? storage * left + later[left] : penalty * -left + empty);
            }
            for (int step = kShare / 2; step > 0; step /= 2) {
                cost += __shfl_xor_sync(0xffffffffu, cost, step);
                total += __shfl_xor_sync(0xffffffffu, total, step);
            }
            if (sum < states && part == 0) expected[sum] = cost / total;
        }
        __syncthreads();
        double beyond = 1e300;  // the least of all pieces done before
        for (int done = 0; done < states; done += kBlock) {
            const int stock = capacity - done - t;
            const double mine = stock >= 0 ? expected[stock] : 1e300, paid = mine + price * stock;
            least[t] = stock >= 0 ? paid : 1e300;
            __syncthreads();
            const int count = min(kBlock, states - done);
            for (int step = 1; step < count; step *= 2) {
                const double other = t >= step ? least[t - step] : 1e300;
                __syncthreads();
                least[t] = fmin(least[t], other);
                __syncthreads();
            }
            const double greater = fmin(beyond, t > 0 ? least[t - 1] : 1e300);
            if (stock >= 0) now[stock] = fmin(mine, fixed - price * stock + greater);
            beyond = fmin(beyond, least[kBlock - 1]);
            __syncthreads();
        }
    }
}

extern "C" void stock_policy(const double* weight, double* value, double fixed, double price, double storage,
                             double penalty, int weeks, int capacity, int demands) {
    double* expected;
    cudaMallocAsync(&expected, sizeof(double) * (capacity + 1), 0);
    run<<<1, kBlock>>>(weight, value, expected, fixed, price, storage, penalty, weeks, capacity, demands);
    cudaFreeAsync(expected, 0);
}
