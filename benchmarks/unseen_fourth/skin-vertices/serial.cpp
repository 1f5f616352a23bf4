// Linear blend skinning: each vertex of a figure follows up to four bones. A bone is a matrix of three rows and four
// columns, the last of them its place. Weights are made to add up to one; normals get length one again.
#include <cmath>
#include <cstddef>

struct Vertex {
    float x, y, z;
    float nx, ny, nz;
};

struct Pose {
    float m[12] = {};

    void add(const float* bone, float weight) {
        for (int i = 0; i < 12; ++i) m[i] += weight * bone[i];
    }

    float turned(int row, float x, float y, float z) const {
        return m[4 * row] * x + m[4 * row + 1] * y + m[4 * row + 2] * z;
    }

    Vertex apply(const Vertex& v) const {
        Vertex r;
        r.x = turned(0, v.x, v.y, v.z) + m[3];
        r.y = turned(1, v.x, v.y, v.z) + m[7];
        r.z = turned(2, v.x, v.y, v.z) + m[11];
        r.nx = turned(0, v.nx, v.ny, v.nz);
        r.ny = turned(1, v.nx, v.ny, v.nz);
        r.nz = turned(2, v.nx, v.ny, v.nz);
        const float length = std::sqrt(r.nx * r.nx + r.ny * r.ny + r.nz * r.nz);
        const float scale = length > 0 ? 1 / length : 0;
        r.nx *= scale;
        r.ny *= scale;
        r.nz *= scale;
        return r;
    }
};

extern "C" void skin_vertices(const float* bones, const Vertex* rest, const unsigned char* joint, const float* weight,
                              Vertex* posed, int nbones, int vertices) {
    for (int v = 0; v < vertices; ++v) {
        float total = 0;
        for (int k = 0; k < 4; ++k) total += weight[4 * (size_t)v + k];
        Pose pose;
        for (int k = 0; k < 4; ++k) {
            const int bone = joint[4 * (size_t)v + k];
            if (bone < nbones) pose.add(bones + 12 * bone, weight[4 * (size_t)v + k] / total);
        }
        posed[v] = pose.apply(rest[v]);
    }
}
