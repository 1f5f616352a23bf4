// Brusselator reactions in cells that do not exchange anything: each cell has its own feed rates, and both
// concentrations are advanced by the classical Runge-Kutta scheme.
struct Concentrations {
    float x, y;
};

static Concentrations rate(const Concentrations& c, float a, float b) {
    const float autocatalysis = c.x * c.x * c.y;
    return {a + autocatalysis - (b + 1.0f) * c.x, b * c.x - autocatalysis};
}

static Concentrations moved(const Concentrations& c, const Concentrations& k, float h) {
    return {c.x + h * k.x, c.y + h * k.y};
}

static Concentrations rk4(const Concentrations& c, float a, float b, float dt) {
    const Concentrations k1 = rate(c, a, b);
    const Concentrations k2 = rate(moved(c, k1, 0.5f * dt), a, b);
    const Concentrations k3 = rate(moved(c, k2, 0.5f * dt), a, b);
    const Concentrations k4 = rate(moved(c, k3, dt), a, b);
    Concentrations next;
    next.x = c.x + dt / 6.0f * (k1.x + 2.0f * k2.x + 2.0f * k3.x + k4.x);
    next.y = c.y + dt / 6.0f * (k1.y + 2.0f * k2.y + 2.0f * k3.y + k4.y);
    return next;
}

extern "C" void reaction_cells(float* x, float* y, const float* feed_a, const float* feed_b, float dt, int steps,
                               int cells) {
    for (int i = 0; i < cells; ++i) {
        Concentrations c = {x[i], y[i]};
        for (int s = 0; s < steps; ++s) c = rk4(c, feed_a[i], feed_b[i], dt);
        x[i] = c.x;
        y[i] = c.y;
    }
}
