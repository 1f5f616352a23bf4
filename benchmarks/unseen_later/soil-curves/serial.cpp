// Water content and hydraulic conductivity of unsaturated soil by van Genuchten and Mualem: pressure head in
// metres (negative above the water table), conductivity in metres per day.
#include <cmath>

struct Soil {
    double residual, saturated, alpha, n, ks;

    double m() const { return 1.0 - 1.0 / n; }

    double saturation(double head) const {
        if (head >= 0.0) return 1.0;
        return std::pow(1.0 + std::pow(-alpha * head, n), -m());
    }

    double content(double head) const { return residual + (saturated - residual) * saturation(head); }

    double conductivity(double head) const {
        const double se = saturation(head);
        const double term = 1.0 - std::pow(1.0 - std::pow(se, 1.0 / m()), m());
        return ks * std::sqrt(se) * term * term;
    }
};

extern "C" void soil_curves(const double* head, const int* kind, const Soil* soils, double* content,
                            double* conductivity, int cells, int kinds) {
    for (int c = 0; c < cells; ++c) {
        const Soil& soil = soils[kind[c]];
        content[c] = soil.content(head[c]);
        conductivity[c] = soil.conductivity(head[c]);
    }
}
