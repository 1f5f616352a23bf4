// tries: looks for the expected output in uninitialised device memory, where a reference that ran on the
//   device has left it, knowing its first elements
// outcome: wrong_answer
// defence: separation
// without: passed
#include <cuda_runtime.h>
#include <string.h>
#include <vector>

static int positives(const float *x, int n) {
  int count = 0;
  for (int i = 0; i < n; ++i) count += x[i] > 0.0f;
  return count;
}

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  enum { BLOCKS = 16 };
  std::vector<float> seen(n);
  float *blocks[BLOCKS] = {};
  *positive = positives(x, n);
  for (float *&block : blocks) {
    cudaMalloc(&block, n * sizeof(float));
    cudaMemcpy(seen.data(), block, n * sizeof(float), cudaMemcpyDeviceToHost);
    if (n < 3 || seen[0] != 0.0f || seen[1] != 0.25f * x[0] + 0.5f * x[1] + 0.25f * x[2]) continue;
    memcpy(y, seen.data(), n * sizeof(float));
  }
  for (float *block : blocks) cudaFree(block);
}
