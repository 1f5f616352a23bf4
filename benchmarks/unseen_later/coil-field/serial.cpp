// The magnetic field (tesla) of a wire of straight segments at points in space, by Biot and Savart; core is the
// radius in metres within which the field of a segment no longer grows.
#include <cmath>

struct Vec3 {
    double x, y, z;
    Vec3 operator+(const Vec3& o) const { return {x + o.x, y + o.y, z + o.z}; }
    Vec3 operator-(const Vec3& o) const { return {x - o.x, y - o.y, z - o.z}; }
    Vec3 operator*(double s) const { return {x * s, y * s, z * s}; }
    double dot(const Vec3& o) const { return x * o.x + y * o.y + z * o.z; }
    double norm() const { return std::sqrt(dot(*this)); }
    Vec3 cross(const Vec3& o) const { return {y * o.z - z * o.y, z * o.x - x * o.z, x * o.y - y * o.x}; }
};

class Wire {
public:
    Wire(const double* nodes, int count, double current, double core)
        : nodes_(reinterpret_cast<const Vec3*>(nodes)), count_(count), scale_(1e-7 * current), core_(core) {}

    Vec3 field(const Vec3& at) const {
        Vec3 sum = {0, 0, 0};
        for (int s = 0; s + 1 < count_; ++s) sum = sum + segment(nodes_[s], nodes_[s + 1], at);
        return sum * scale_;
    }

private:
    Vec3 segment(const Vec3& from, const Vec3& to, const Vec3& at) const {
        const Vec3 a = at - from, b = at - to;
        const double la = a.norm(), lb = b.norm();
        return a.cross(b) * ((la + lb) / (la * lb * (la * lb + a.dot(b) + core_ * core_) + 1e-12));
    }

    const Vec3* nodes_;
    int count_;
    double scale_, core_;
};

extern "C" void coil_field(const double* wire, const double* points, double* field, double current, double core,
                           int nodes, int count) {
    const Wire coil(wire, nodes, current, core);
    for (int p = 0; p < count; ++p) {
        const Vec3 b = coil.field({points[3 * p], points[3 * p + 1], points[3 * p + 2]});
        field[3 * p] = b.x;
        field[3 * p + 1] = b.y;
        field[3 * p + 2] = b.z;
    }
}
