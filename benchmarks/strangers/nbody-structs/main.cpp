#include <cstdio>
#include <cstdlib>

struct Body {
    double x, y, z;
    double vx, vy, vz;
    double mass;
};

void randomizeBodies(Body *bodies, int n);
void advance(Body *bodies, int n, double dt);
double energy(const Body *bodies, int n);

int main() {
    const int n = 301;
    Body *bodies = (Body *)malloc(n * sizeof(Body));
    srand(3);
    randomizeBodies(bodies, n);
    for (int t = 0; t < 5; ++t) advance(bodies, n, 0.001);
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += bodies[i].x * (i % 5) + bodies[i].z;
    printf("%.8f %.8f\n", energy(bodies, n), sum);
    free(bodies);
}
