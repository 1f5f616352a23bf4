// problem: tests/adversarial/problem/filter
// style: cub::DeviceSelect::If on a stream of its own, all memory from the stream's pool
#include <cub/cub.cuh>
#include <cuda_runtime.h>

struct ByThree {
  __host__ __device__ bool operator()(int value) const { return value % 3 == 0; }
};

extern "C" void filter(const int *x, int *kept, int *found, int n) {
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  int *from, *to, *count;
  void *scratch = nullptr;
  size_t room = 0;
  cudaMallocAsync(&from, n * sizeof(int), stream);
  cudaMallocAsync(&to, n * sizeof(int), stream);
  cudaMallocAsync(&count, sizeof(int), stream);
  cudaMemcpyAsync(from, x, n * sizeof(int), cudaMemcpyHostToDevice, stream);
  cub::DeviceSelect::If(nullptr, room, from, to, count, n, ByThree(), stream);
  cudaMallocAsync(&scratch, room ? room : 1, stream);
  cub::DeviceSelect::If(scratch, room, from, to, count, n, ByThree(), stream);
  int many = 0;
  cudaMemcpyAsync(&many, count, sizeof(int), cudaMemcpyDeviceToHost, stream);
  cudaStreamSynchronize(stream);
  if (many < 0 || many > n) many = 0;
  *found = many;
  cudaMemcpyAsync(kept, to, many * sizeof(int), cudaMemcpyDeviceToHost, stream);
  cudaFreeAsync(scratch, stream);
  cudaFreeAsync(count, stream);
  cudaFreeAsync(to, stream);
  cudaFreeAsync(from, stream);
  cudaStreamSynchronize(stream);
  cudaStreamDestroy(stream);
}
