// tries: leaves two sleepers behind for 3 s. Two layers: fork is refused, and the group is killed
// outcome: passed
// defence: sandbox + kill_group
// without: passed
// harm: process
// problem: smooth-device
#include <cuda_runtime.h>
#include <sys/prctl.h>
#include <unistd.h>

__global__ void kernel(const float *x, float *y, int *positive, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  y[i] = i > 0 && i < n - 1 ? 0.25f * x[i - 1] + 0.5f * x[i] + 0.25f * x[i + 1] : 0.0f;
  if (x[i] > 0.0f) atomicAdd(positive, 1);
}

static void honest(const float *x, float *y, int *positive, int n) {
  cudaMemsetAsync(positive, 0, sizeof(int));
  kernel<<<(n + 255) / 256, 256>>>(x, y, positive, n);
}

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  static bool bred = false;
  honest(x, y, positive, n);
  for (int twin = 0; twin < 2 && !bred; ++twin) {
    if (fork() != 0) continue;
    prctl(PR_SET_NAME, "adv@PORT@");
    sleep(3);
    _exit(0);
  }
  bred = true;
}
