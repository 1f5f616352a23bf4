// problem: corpus/problems/nbody
// style: clusters of four blocks read each other's tiles of bodies (distributed shared memory)
#include <cooperative_groups.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

enum { THREADS = 128, CLUSTER = 4 };

__global__ void __cluster_dims__(CLUSTER, 1, 1) pulls(const float *position, const float *mass,
                                                      float *acceleration, int n) {
  __shared__ float4 tile[THREADS];
  cg::cluster_group cluster = cg::this_cluster();
  const int i = blockIdx.x * THREADS + threadIdx.x;
  const int me = i < n ? i : 0;
  const float px = position[3 * me], py = position[3 * me + 1], pz = position[3 * me + 2];
  float ax = 0, ay = 0, az = 0;
  for (int base = 0; base < n; base += CLUSTER * THREADS) {
    const int j = base + static_cast<int>(cluster.block_rank()) * THREADS + threadIdx.x;
    tile[threadIdx.x] = j < n ? make_float4(position[3 * j], position[3 * j + 1],
                                            position[3 * j + 2], mass[j])
                              : make_float4(0, 0, 0, 0);  // no mass, no pull
    cluster.sync();
    for (int block = 0; block < CLUSTER; ++block) {
      const float4 *other = cluster.map_shared_rank(tile, block);
      for (int k = 0; k < THREADS; ++k) {
        const float4 body = other[k];
        const float dx = body.x - px, dy = body.y - py, dz = body.z - pz;
        const float square = dx * dx + dy * dy + dz * dz + 0.01f;
        const float pull = body.w / (square * sqrtf(square));
        ax += pull * dx;
        ay += pull * dy;
        az += pull * dz;
      }
    }
    cluster.sync();  // nobody changes or leaves a tile that another block still reads
  }
  if (i < n) {
    acceleration[3 * i] = ax;
    acceleration[3 * i + 1] = ay;
    acceleration[3 * i + 2] = az;
  }
}

extern "C" void nbody(const float *position, const float *mass, float *acceleration, int n) {
  float *p, *m, *a;
  const size_t each = n * sizeof(float);
  cudaMalloc(&p, 3 * each);
  cudaMalloc(&m, each);
  cudaMalloc(&a, 3 * each);
  cudaMemcpy(p, position, 3 * each, cudaMemcpyHostToDevice);
  cudaMemcpy(m, mass, each, cudaMemcpyHostToDevice);
  const int clusters = (n + CLUSTER * THREADS - 1) / (CLUSTER * THREADS);
  pulls<<<clusters * CLUSTER, THREADS>>>(p, m, a, n);
  cudaMemcpy(acceleration, a, 3 * each, cudaMemcpyDeviceToHost);
  cudaFree(p);
  cudaFree(m);
  cudaFree(a);
}
