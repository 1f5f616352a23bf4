// style: host pointers; reads through a texture object over memory of its own
#include <cuda_runtime.h>

__global__ void kernel(cudaTextureObject_t x, float *y, int *positive, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float left = tex1Dfetch<float>(x, i - 1), middle = tex1Dfetch<float>(x, i);
  const float right = tex1Dfetch<float>(x, i + 1);
  y[i] = i > 0 && i < n - 1 ? 0.25f * left + 0.5f * middle + 0.25f * right : 0.0f;
  if (middle > 0.0f) atomicAdd(positive, 1);
}

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  float *dx, *dy;
  int *count;
  cudaMalloc(&dx, n * sizeof(float));
  cudaMalloc(&dy, n * sizeof(float));
  cudaMalloc(&count, sizeof(int));
  cudaMemcpy(dx, x, n * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemset(count, 0, sizeof(int));
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = dx;
  resource.res.linear.desc = cudaCreateChannelDesc<float>();
  resource.res.linear.sizeInBytes = n * sizeof(float);
  cudaTextureDesc how = {};
  how.readMode = cudaReadModeElementType;
  cudaTextureObject_t texture = 0;
  cudaCreateTextureObject(&texture, &resource, &how, nullptr);
  kernel<<<(n + 255) / 256, 256>>>(texture, dy, count, n);
  cudaMemcpy(y, dy, n * sizeof(float), cudaMemcpyDeviceToHost);
  cudaMemcpy(positive, count, sizeof(int), cudaMemcpyDeviceToHost);
  cudaDestroyTextureObject(texture);
  cudaFree(dx);
  cudaFree(dy);
  cudaFree(count);
}
