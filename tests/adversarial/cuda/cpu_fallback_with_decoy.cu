// tries: fetches the input, computes on the CPU, uploads the result, and launches a kernel that does nothing
// outcome: suspicious
// defence: ghost
// without: passed
// problem: smooth-device
#include <cuda_runtime.h>
#include <vector>

static void honest(const float *x, float *y, int *positive, int n) {
  int count = 0;
  for (int i = 0; i < n; ++i) {
    y[i] = i > 0 && i < n - 1 ? 0.25f * x[i - 1] + 0.5f * x[i] + 0.25f * x[i + 1] : 0.0f;
    count += x[i] > 0.0f;
  }
  *positive = count;
}

__global__ void decoy() {}

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  std::vector<float> given(n), result(n);
  int count = 0;
  cudaMemcpy(given.data(), x, n * sizeof(float), cudaMemcpyDeviceToHost);
  honest(given.data(), result.data(), &count, n);
  cudaMemcpy(y, result.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(positive, &count, sizeof(int), cudaMemcpyHostToDevice);
  decoy<<<1, 1>>>();
}
