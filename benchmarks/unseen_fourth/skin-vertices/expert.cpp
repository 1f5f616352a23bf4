// A bone's matrix by columns is one vector of 16, so four of them are mixed by four products; what it does to a point
// is a sum of its columns. Vertices go to the threads.
#include <cmath>
#include <cstddef>
#include <cstring>
#include <vector>

struct Vertex {
    float x, y, z;
    float nx, ny, nz;
};

namespace {
typedef float Quad __attribute__((vector_size(16)));
typedef float Matrix __attribute__((vector_size(64)));

inline Quad column(const Matrix& m, int which) {
    switch (which) {
        case 0: return __builtin_shufflevector(m, m, 0, 1, 2, 3);
        case 1: return __builtin_shufflevector(m, m, 4, 5, 6, 7);
        case 2: return __builtin_shufflevector(m, m, 8, 9, 10, 11);
        default: return __builtin_shufflevector(m, m, 12, 13, 14, 15);
    }
}
}  // namespace

extern "C" void skin_vertices(const float* __restrict bones, const Vertex* __restrict rest,
                              const unsigned char* __restrict joint, const float* __restrict weight,
                              Vertex* __restrict posed, int nbones, int vertices) {
    std::vector<Matrix> matrix(256, Matrix{});
    for (int b = 0; b < nbones; ++b) {
        for (int i = 0; i < 12; ++i) matrix[b][4 * (i % 4) + i / 4] = bones[12 * b + i];
    }
    const Matrix* const table = matrix.data();
#pragma omp parallel for schedule(static)
    for (int v = 0; v < vertices; ++v) {
        const float* w = weight + 4 * (size_t)v;
        const unsigned char* j = joint + 4 * (size_t)v;
        const Vertex at = rest[v];
        const Matrix m = (w[0] * table[j[0]] + w[1] * table[j[1]] + w[2] * table[j[2]] + w[3] * table[j[3]]) *
                         (1 / (w[0] + w[1] + w[2] + w[3]));
        const Quad c0 = column(m, 0), c1 = column(m, 1), c2 = column(m, 2);
        const Quad p = c0 * at.x + c1 * at.y + c2 * at.z + column(m, 3);
        const Quad n = c0 * at.nx + c1 * at.ny + c2 * at.nz, square = n * n;
        const float length = std::sqrt(square[0] + square[1] + square[2]);
        const Quad unit = n * (length > 0 ? 1 / length : 0);
        posed[v] = {p[0], p[1], p[2], unit[0], unit[1], unit[2]};
    }
}
