// What a watchtower in the middle of a terrain sees. For each cell: by how much a target there must rise above the
// ground for the line of sight to clear all cells in between. The cells under a line are Bresenham's.
#include <algorithm>
#include <cstddef>
#include <cstdlib>

struct Terrain {
    const float* ground;
    int nx, ny;

    double height(int x, int y) const { return ground[(size_t)y * nx + x]; }
};

struct Tower {
    int x, y;
    double eye;  // height of the eye above sea level

    double lift_at(const Terrain& terrain, int tx, int ty) const {
        const int dx = std::abs(tx - x), dy = std::abs(ty - y);
        const int sx = tx < x ? -1 : 1, sy = ty < y ? -1 : 1;
        const int steps = std::max(dx, dy);
        if (steps == 0) return 0;

        double steepest = -1e30;  // rise per step
        int cx = x, cy = y;
        int error = steps;
        for (int s = 1; s < steps; ++s) {
            error += 2 * std::min(dx, dy);
            const bool aside = error >= 2 * steps;
            if (aside) error -= 2 * steps;
            if (dx >= dy || aside) cx += sx;
            if (dx < dy || aside) cy += sy;
            steepest = std::max(steepest, (terrain.height(cx, cy) - eye) / s);
        }
        return std::max(0.0, eye + steepest * steps - terrain.height(tx, ty));
    }
};

extern "C" void viewshed(const float* ground, double* lift, double eye, int nx, int ny) {
    const Terrain terrain{ground, nx, ny};
    Tower tower{nx / 2, ny / 2, 0};
    tower.eye = terrain.height(tower.x, tower.y) + eye;
    for (int y = 0; y < ny; ++y) {
        for (int x = 0; x < nx; ++x) lift[(size_t)y * nx + x] = tower.lift_at(terrain, x, y);
    }
}
