#include <cmath>
#include <limits>
#include <vector>

struct Vec3 {
    float x, y, z;
};

struct Sphere {
    float cx, cy, cz;
    float radius;
};

static inline float dot(const Vec3& a, const Vec3& b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

// Nearest hit of each ray (unit directions) with any of the spheres; -1 where there is none.
void trace(const Vec3* origin, const Vec3* dir, const Sphere* spheres, float* t_hit, int* id_hit,
           int n_rays, int n_spheres)
{
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
            }
        }
        t_hit[r] = id < 0 ? -1.0f : nearest;
        id_hit[r] = id;
    }
}
