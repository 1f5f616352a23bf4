#include <cuda_runtime.h>

__global__ void step(const float* from, float* to, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float before = from[i == 0 ? n - 1 : i - 1], after = from[i == n - 1 ? 0 : i + 1];
    to[i] = 0.25f * before + 0.5f * from[i] + 0.25f * after;
}

static float* other_grid(int n) {
    static float* memory = nullptr;
    static int room = 0;
    if (n > room) {
        cudaFree(memory);
        cudaMalloc(&memory, n * sizeof(float));
        room = n;
    }
    return memory;
}

static void launches(const float* in, float* out, float* other, int n, int steps, cudaStream_t stream) {
    const float* from = in;
    for (int s = 0; s < steps; ++s) {
        float* to = (steps - s) % 2 ? out : other;
        step<<<(n + 255) / 256, 256, 0, stream>>>(from, to, n);
        from = to;
    }
}

static cudaGraphExec_t captured(const float* in, float* out, float* other, int n, int steps) {
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t runnable;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
    launches(in, out, other, n, steps, stream);
    cudaStreamEndCapture(stream, &graph);
    cudaGraphInstantiate(&runnable, graph, 0);
    cudaGraphDestroy(graph);
    cudaStreamDestroy(stream);
    return runnable;
}

extern "C" void ring_steps(const float* in, float* out, int n, int steps) {
    cudaGraphExec_t runnable = captured(in, out, other_grid(n), n, steps);
    cudaGraphLaunch(runnable, 0);
    cudaStreamSynchronize(0);
    cudaGraphExecDestroy(runnable);
}
