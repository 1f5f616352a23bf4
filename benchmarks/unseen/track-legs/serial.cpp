// Length and initial course of each leg of a ship's track: fixes in degrees, lengths in metres.
#include <cmath>

static const double kEarthRadius = 6371008.8;

static double radians(double degrees) { return degrees * M_PI / 180.0; }

static double leg_length(double lat1, double lon1, double lat2, double lon2) {
    const double s = std::sin(0.5 * (lat2 - lat1));
    const double t = std::sin(0.5 * (lon2 - lon1));
    const double a = s * s + std::cos(lat1) * std::cos(lat2) * t * t;
    return 2.0 * kEarthRadius * std::asin(std::sqrt(a < 1.0 ? a : 1.0));
}

static double initial_course(double lat1, double lon1, double lat2, double lon2) {
    const double dlon = lon2 - lon1;
    const double y = std::sin(dlon) * std::cos(lat2);
    const double x = std::cos(lat1) * std::sin(lat2) - std::sin(lat1) * std::cos(lat2) * std::cos(dlon);
    return std::atan2(y, x) * 180.0 / M_PI;
}

extern "C" void track_legs(const double* lat, const double* lon, double* metres, double* course, int fixes) {
    for (int i = 0; i + 1 < fixes; ++i) {
        const double lat1 = radians(lat[i]), lon1 = radians(lon[i]);
        const double lat2 = radians(lat[i + 1]), lon2 = radians(lon[i + 1]);
        metres[i] = leg_length(lat1, lon1, lat2, lon2);
        course[i] = initial_course(lat1, lon1, lat2, lon2);
    }
}
