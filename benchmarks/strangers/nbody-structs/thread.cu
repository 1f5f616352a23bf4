#include <cuda_runtime.h>
#include <cmath>

struct Body {
    double x, y, z;
    double vx, vy, vz;
    double mass;
};
__global__ void kick(Body* bodies, int n, double dt) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double fx = 0.0, fy = 0.0, fz = 0.0, x = bodies[i].x, y = bodies[i].y, z = bodies[i].z;
    for (int j = 0; j < n; j++) {
        if (i == j) continue;
        double dx = bodies[j].x - x, dy = bodies[j].y - y, dz = bodies[j].z - z;
        double inv = 1.0 / sqrt(dx * dx + dy * dy + dz * dz + 1e-9);
        double inv3 = bodies[j].mass * inv * inv * inv;
        fx += dx * inv3;
        fy += dy * inv3;
        fz += dz * inv3;
    }
    bodies[i].vx += dt * fx;
    bodies[i].vy += dt * fy;
    bodies[i].vz += dt * fz;
}
__global__ void drift(Body* bodies, int n, double dt) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    bodies[i].x += bodies[i].vx * dt;
    bodies[i].y += bodies[i].vy * dt;
    bodies[i].z += bodies[i].vz * dt;
}
void launch(Body* bodies, int n, double dt) {
    if (n <= 0) return;
    kick<<<(n + 127) / 128, 128>>>(bodies, n, dt);
    drift<<<(n + 127) / 128, 128>>>(bodies, n, dt);
}

// Device memory, kept from call to call and made anew where a call needs more.
// Not for several threads at once.
static void* device_memory(int which, size_t bytes) {
    static void* memory[1];
    static size_t room[1];
    if (bytes > room[which]) {
        cudaFree(memory[which]);
        memory[which] = nullptr;
        room[which] = cudaMalloc(&memory[which], bytes) == cudaSuccess ? bytes : 0;
    }
    return memory[which];
}

extern "C" void advance_entry(Body* bodies, int n, double dt) {
    const size_t bodies_bytes = sizeof(Body) * n;
    Body* d_bodies = static_cast<Body*>(device_memory(0, bodies_bytes));
    cudaMemcpy(d_bodies, bodies, bodies_bytes, cudaMemcpyHostToDevice);
    launch(d_bodies, n, dt);
    cudaMemcpy(bodies, d_bodies, bodies_bytes, cudaMemcpyDeviceToHost);
}
