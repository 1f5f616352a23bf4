#include <cmath>
#include <vector>

namespace quad {

struct Interval {
    double a, b;
};

template <class F>
double simpson(const F& f, double a, double b) {
    return (b - a) / 6.0 * (f(a) + 4.0 * f(0.5 * (a + b)) + f(b));
}

template <class F>
double adaptive(const F& f, double a, double b, double tol) {
    Interval stack[64];
    int top = 0;
    double total = 0.0;
    stack[top++] = {a, b};
    while (top > 0) {
        const Interval now = stack[--top];
        const double mid = 0.5 * (now.a + now.b);
        const double whole = simpson(f, now.a, now.b);
        const double halves = simpson(f, now.a, mid) + simpson(f, mid, now.b);
        if (std::fabs(halves - whole) <= 15.0 * tol || top + 2 > 60) {
            total += halves + (halves - whole) / 15.0;
        } else {
            stack[top++] = {now.a, mid};
            stack[top++] = {mid, now.b};
        }
    }
    return total;
}

// Integrates a damped oscillation of each frequency over [0, upper].
void integrateAll(const double* frequency, int count, double upper, double tol, double* result) {
    for (int i = 0; i < count; ++i) {
        const double w = frequency[i];
        auto damped = [w](double x) { return std::exp(-x) * std::cos(w * x); };
        result[i] = adaptive(damped, 0.0, upper, tol);
    }
}

}  // namespace quad
