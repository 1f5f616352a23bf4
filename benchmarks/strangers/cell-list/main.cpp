#include <cstdio>
#include <vector>

struct Particle {
    float x, y, z, mass;
};

void binParticles(const Particle* particles, int count, int side, Particle* sorted, int* start);

int main() {
    for (int n : {0, 1, 5000}) {
        const int side = 7;
        std::vector<Particle> p(n), sorted(n);
        for (int i = 0; i < n; ++i)
            p[i] = {i * 7919 % 1009 / 1009.0f, i * 104729 % 997 / 997.0f, i * 31 % 991 / 991.0f, float(i)};
        std::vector<int> start(side * side * side + 1, 77);
        binParticles(p.data(), n, side, sorted.data(), start.data());
        unsigned sum = 0;
        for (const Particle& q : sorted) sum = sum * 31 + unsigned(q.mass);
        for (int s : start) sum = sum * 31 + s;
        std::printf("%u\n", sum);
    }
}
