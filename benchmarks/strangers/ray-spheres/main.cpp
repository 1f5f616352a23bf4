#include <cmath>
#include <cstdio>
#include <vector>

struct Vec3 { float x, y, z; };
struct Sphere { float cx, cy, cz; float radius; };

void trace(const Vec3* origin, const Vec3* dir, const Sphere* spheres, float* t_hit, int* id_hit,
           int n_rays, int n_spheres);

int main()
{
    const int rays = 500, balls = 20;
    std::vector<Vec3> o(rays), d(rays);
    std::vector<Sphere> s(balls);
    for (int i = 0; i < rays; i++) {
        o[i] = {0.f, 0.f, -5.f};
        float x = (i % 25) / 25.f - 0.5f, y = (i / 25) / 20.f - 0.5f, l = std::sqrt(x * x + y * y + 1);
        d[i] = {x / l, y / l, 1 / l};
    }
    for (int i = 0; i < balls; i++) s[i] = {(i % 5) - 2.f, (i / 5) - 1.5f, i * 0.3f, 0.4f + 0.02f * i};
    std::vector<float> t(rays);
    std::vector<int> id(rays);
    trace(o.data(), d.data(), s.data(), t.data(), id.data(), rays, balls);
    double sum = 0;
    for (int i = 0; i < rays; i++) sum += t[i] + id[i];
    printf("%.3f\n", sum);
}
