// Where a robot with two driven wheels has been, from the ticks of its wheels' encoders per sample. Each sample is a
// stretch in the mean direction. Lengths in metres, angles in radians, never wrapped.
#include <cmath>
#include <cstdint>

struct Pose {
    double x, y, heading;
};

struct Robot {
    double per_tick, base;
    Pose at{0, 0, 0};
    long long turned = 0;  // in ticks, so that the heading does not drift

    void roll(int left, int right) {
        const double way = 0.5 * per_tick * (left + right);
        const double middle = (turned + 0.5 * (right - left)) * per_tick / base;
        turned += right - left;
        at.x += way * std::cos(middle);
        at.y += way * std::sin(middle);
        at.heading = turned * per_tick / base;
    }
};

extern "C" void wheel_odometry(const int16_t* left, const int16_t* right, Pose* track, double per_tick, double base,
                               int samples) {
    Robot robot{per_tick, base};
    for (int i = 0; i < samples; ++i) {
        robot.roll(left[i], right[i]);
        track[i] = robot.at;
    }
}
