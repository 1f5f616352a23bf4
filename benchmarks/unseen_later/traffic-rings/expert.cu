// A block per road for all steps: speeds in two buffers of shared memory, gaps beside them. A gap is brought
// up to date at the start of the next step, when the new speed ahead is known: one barrier per step.
#include <cuda_runtime.h>

__global__ void __launch_bounds__(512) follow(double* __restrict__ gap, double* __restrict__ speed, double dt,
                                              int cars, int steps) {
    extern __shared__ double room[];
    double *v = room, *next = room + cars, *s = room + 2 * cars;
    const size_t base = (size_t)blockIdx.x * cars;
    const double headway = 1.5, jam = 2.0, accelerate = 1.2, brake = 2.0;
    const double per_wanted = 1.0 / 33.0, per_brake = 1.0 / (2.0 * sqrt(accelerate * brake));
    for (int i = threadIdx.x; i < cars; i += blockDim.x) {
        v[i] = speed[base + i];
        s[i] = gap[base + i];
    }
    __syncthreads();
    for (int step = 0; step < steps; ++step) {
        for (int i = threadIdx.x; i < cars; i += blockDim.x) {
            const double now = v[i], ahead = v[i + 1 < cars ? i + 1 : 0];
            // the gap of the step before: both speeds of it are known by now
            double space = s[i];
            if (step) s[i] = space = space + dt * (ahead - now);
            const double near = (jam + fmax(0.0, now * headway + now * (now - ahead) * per_brake)) / fmax(space, 0.5);
            const double free = now * per_wanted, square = free * free;
            const double a = accelerate * (1.0 - square * square - near * near);
            next[i] = fmax(0.0, now + dt * fmax(a, -8.0));
        }
        __syncthreads();
        double* old = v;
        v = next;
        next = old;
    }
    for (int i = threadIdx.x; i < cars; i += blockDim.x) {
        speed[base + i] = v[i];
        gap[base + i] = s[i] + (steps ? dt * (v[i + 1 < cars ? i + 1 : 0] - v[i]) : 0.0);
    }
}

extern "C" void traffic_rings(double* gap, double* speed, double dt, int rings, int cars, int steps) {
    const int threads = min(512, (cars + 31) / 32 * 32), bytes = 3 * cars * (int)sizeof(double);
    cudaFuncSetAttribute(follow, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    follow<<<rings, threads, bytes>>>(gap, speed, dt, cars, steps);
}
