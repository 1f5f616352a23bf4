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

struct Kept {
    const float* in;
    float *out, *other;
    int n, steps;
    cudaGraphExec_t runnable;
};

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

// Graphs of earlier calls with the same arguments, the oldest of 32 making room.
extern "C" void ring_steps(const float* in, float* out, int n, int steps) {
    static Kept kept[32];
    static int count = 0;
    float* other = other_grid(n);
    Kept* found = nullptr;
    for (Kept& it : kept) {
        if (it.runnable && it.in == in && it.out == out && it.other == other && it.n == n && it.steps == steps) {
            found = &it;
        }
    }
    if (!found) {
        found = &kept[count++ % 32];
        if (found->runnable) cudaGraphExecDestroy(found->runnable);
        *found = {in, out, other, n, steps, captured(in, out, other, n, steps)};
    }
    cudaGraphLaunch(found->runnable, 0);
}
