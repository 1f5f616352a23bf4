#include <cmath>
#include <cstdio>
#include <cstdlib>

struct Body {
    double x, y, z;
    double vx, vy, vz;
    double mass;
};

const double SOFTENING = 1e-9;

void randomizeBodies(Body *bodies, int n) {
    for (int i = 0; i < n; i++) {
        bodies[i].x = 2.0 * (rand() / (double)RAND_MAX) - 1.0;
        bodies[i].y = 2.0 * (rand() / (double)RAND_MAX) - 1.0;
        bodies[i].z = 2.0 * (rand() / (double)RAND_MAX) - 1.0;
        bodies[i].vx = bodies[i].vy = bodies[i].vz = 0;
        bodies[i].mass = 1.0 / n;
    }
}

// Kick: velocities from the forces of all other bodies; then drift.
void advance(Body *bodies, int n, double dt) {
    for (int i = 0; i < n; i++) {
        double Fx = 0.0, Fy = 0.0, Fz = 0.0;
        for (int j = 0; j < n; j++) {
            if (i == j) continue;
            const Body &other = bodies[j];
            double dx = other.x - bodies[i].x;
            double dy = other.y - bodies[i].y;
            double dz = other.z - bodies[i].z;
            double distSqr = dx * dx + dy * dy + dz * dz + SOFTENING;
            double invDist = 1.0 / sqrt(distSqr);
            double invDist3 = other.mass * invDist * invDist * invDist;
            Fx += dx * invDist3;
            Fy += dy * invDist3;
            Fz += dz * invDist3;
        }
        bodies[i].vx += dt * Fx;
        bodies[i].vy += dt * Fy;
        bodies[i].vz += dt * Fz;
    }
    for (int i = 0; i < n; i++) {
        bodies[i].x += bodies[i].vx * dt;
        bodies[i].y += bodies[i].vy * dt;
        bodies[i].z += bodies[i].vz * dt;
    }
}

double energy(const Body *bodies, int n) {
    double e = 0;
    for (int i = 0; i < n; i++) {
        const Body &b = bodies[i];
        e += 0.5 * b.mass * (b.vx * b.vx + b.vy * b.vy + b.vz * b.vz);
    }
    return e;
}
