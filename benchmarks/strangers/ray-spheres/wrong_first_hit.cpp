void trace(const Vec3* origin, const Vec3* dir, const Sphere* spheres, float* t_hit, int* id_hit,
           int n_rays, int n_spheres)
{
    #pragma omp parallel for
    for (int r = 0; r < n_rays; r++) {
        const Vec3 o = origin[r];
        const Vec3 d = dir[r];
        float nearest = std::numeric_limits<float>::max();
        int id = -1;
        for (int s = 0; s < n_spheres; s++) {
            const Sphere& sp = spheres[s];
            Vec3 oc = {o.x - sp.cx, o.y - sp.cy, o.z - sp.cz};
            float b = dot(oc, d);
            float c = dot(oc, oc) - sp.radius * sp.radius;
            float disc = b * b - c;
            if (disc < 0.0f) continue;
            float root = std::sqrt(disc);
            float t = -b - root;
            if (t < 1e-4f) t = -b + root;
            if (t < 1e-4f) continue;
            if (t < nearest) {
                nearest = t;
                id = s;
                break;
            }
        }
        t_hit[r] = id < 0 ? -1.0f : nearest;
        id_hit[r] = id;
    }
}
