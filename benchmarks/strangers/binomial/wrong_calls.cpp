void price_puts(const double* spot, const double* strike, const double* years, double* price, int n, int steps,
                double rate, double vol)
{
    #pragma omp parallel for
    for (int o = 0; o < n; ++o) {
        const double dt = years[o] / steps;
        const double u = std::exp(vol * std::sqrt(dt));
        const double d = 1.0 / u;
        const double disc = std::exp(-rate * dt);
        const double p = (std::exp(rate * dt) - d) / (u - d);

        std::vector<double> value(steps + 1);
        for (int i = 0; i <= steps; ++i) {
            const double s = spot[o] * std::pow(u, 2.0 * i - steps);
            value[i] = std::max(s - strike[o], 0.0);
        }
        for (int t = steps - 1; t >= 0; --t) {
            for (int i = 0; i <= t; ++i) {
                const double hold = disc * (p * value[i + 1] + (1.0 - p) * value[i]);
                const double s = spot[o] * std::pow(u, 2.0 * i - t);
                value[i] = std::max(hold, strike[o] - s);
            }
        }
        price[o] = value[0];
    }
}
