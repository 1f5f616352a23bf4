void advance(Body *bodies, int n, double dt) {
#pragma omp parallel
    {
#pragma omp for schedule(static)
        for (int i = 0; i < n; i++) {
            const double x = bodies[i].x, y = bodies[i].y, z = bodies[i].z;
            double fx = 0, fy = 0, fz = 0;
            for (int j = 0; j < n; j++) {
                if (i == j) continue;
                const double dx = bodies[j].x - x, dy = bodies[j].y - y, dz = bodies[j].z - z;
                const float inv = 1.0f / sqrtf((float)(dx * dx + dy * dy + dz * dz + 1e-9));
                const double f = bodies[j].mass * inv * inv * inv;
                fx += dx * f;
                fy += dy * f;
                fz += dz * f;
            }
            bodies[i].vx += dt * fx;
            bodies[i].vy += dt * fy;
            bodies[i].vz += dt * fz;
        }
#pragma omp for schedule(static)
        for (int i = 0; i < n; i++) {
            bodies[i].x += bodies[i].vx * dt;
            bodies[i].y += bodies[i].vy * dt;
            bodies[i].z += bodies[i].vz * dt;
        }
    }
}
