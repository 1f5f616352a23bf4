// A thread per site, matrices in shared memory. The tree is walked depth first, so that a thread keeps one product
// per level instead of one per node; a leaf picks a column of its matrix.
#include <cuda_runtime.h>

constexpr int kLevels = 32;

__global__ void __launch_bounds__(128) pruning(const unsigned char* __restrict__ bases,
                                               const double* __restrict__ transition, double* __restrict__ loglik,
                                               int sites, int leaves, int rates, int shared) {
    extern __shared__ double matrices[];
    const int nodes = 2 * leaves - 1, inners = leaves - 1;
    for (int e = threadIdx.x; shared && e < 16 * nodes * rates; e += blockDim.x) matrices[e] = transition[e];
    __syncthreads();
    const int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= sites) return;
    const unsigned char* base = bases + (size_t)s * leaves;
    double total = 0.0;
    for (int r = 0; r < rates; ++r) {
        const double* p = (shared ? matrices : transition) + 16 * (size_t)r * nodes;
        double product[kLevels][4];  // of the children seen so far, for the node of each level on the path
        int node = 0, level = 0;
        for (;;) {
            while (node < inners) {  // down to the left
                for (int a = 0; a < 4; ++a) product[level][a] = 1.0;
                node = 2 * node + 1;
                ++level;
            }
            double here[4];  // what the subtree says to the node above, by its base
            const int own = base[node - inners];
            for (int a = 0; a < 4; ++a) here[a] = node ? p[16 * node + 4 * a + own] : (own == a);
            while (node) {
                --level;
                for (int a = 0; a < 4; ++a) here[a] *= product[level][a];
                if (node % 2) break;  // a left child: its sister is next
                node = (node - 1) / 2;
                if (node == 0) break;
                double sum[4];
                for (int a = 0; a < 4; ++a) {
                    const double* row = p + 16 * node + 4 * a;
                    sum[a] = row[0] * here[0] + row[1] * here[1] + row[2] * here[2] + row[3] * here[3];
                }
                for (int a = 0; a < 4; ++a) here[a] = sum[a];
            }
            if (node == 0) {
                for (int a = 0; a < 4; ++a) total += 0.25 * here[a];
                break;
            }
            for (int a = 0; a < 4; ++a) product[level][a] = here[a];
            ++level;
            ++node;
        }
    }
    loglik[s] = log(total / rates);
}

extern "C" void site_likelihoods(const unsigned char* bases, const double* transition, double* loglik, int sites,
                                 int leaves, int rates) {
    const size_t bytes = sizeof(double) * 16 * (2 * leaves - 1) * rates;
    const int shared = bytes <= 100 * 1024;
    cudaFuncSetAttribute(pruning, cudaFuncAttributeMaxDynamicSharedMemorySize, shared ? (int)bytes : 0);
    pruning<<<(sites + 127) / 128, 128, (shared ? bytes : 0)>>>(bases, transition, loglik, sites, leaves, rates, shared);
}
