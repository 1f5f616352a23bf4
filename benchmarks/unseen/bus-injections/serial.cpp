// Active and reactive power that each bus of a grid feeds in, from voltages and angles: shunts first, then both
// ends of each branch, which is a series admittance g + jb.
#include <cmath>

struct Branches {
    const int *from, *to;
    const double *g, *b;
    int count;
};

static void add_branch(int i, int k, double g, double b, const double* v, const double* angle, double* p, double* q) {
    const double delta = angle[i] - angle[k];
    const double c = std::cos(delta), s = std::sin(delta);
    const double vv = v[i] * v[k];
    p[i] += g * v[i] * v[i] - vv * (g * c + b * s);
    q[i] += -b * v[i] * v[i] - vv * (g * s - b * c);
    p[k] += g * v[k] * v[k] - vv * (g * c - b * s);
    q[k] += -b * v[k] * v[k] + vv * (g * s + b * c);
}

extern "C" void bus_injections(const int* from, const int* to, const double* g, const double* b, const double* shunt_g,
                               const double* shunt_b, const double* v, const double* angle, double* p, double* q,
                               int branches, int buses) {
    const Branches grid = {from, to, g, b, branches};
    for (int i = 0; i < buses; ++i) {
        p[i] = shunt_g[i] * v[i] * v[i];
        q[i] = -shunt_b[i] * v[i] * v[i];
    }
    for (int e = 0; e < grid.count; ++e) {
        add_branch(grid.from[e], grid.to[e], grid.g[e], grid.b[e], v, angle, p, q);
    }
}
