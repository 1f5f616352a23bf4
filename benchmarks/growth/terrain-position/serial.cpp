// Topographic position index: how far each cell of a terrain lies above the weighted mean of the square around it.
// All weights are equal; beyond the border the terrain goes on as high as its last cell.
class Terrain {
public:
    Terrain(const double* heights, int rows, int cols) : heights(heights), rows(rows), cols(cols) {}

    double at(int y, int x) const { return heights[clamped(y, rows) * cols + clamped(x, cols)]; }

private:
    static int clamped(int i, int n) { return i < 0 ? 0 : (i >= n ? n - 1 : i); }

    const double* heights;
    int rows, cols;
};

extern "C" void terrain_position(const double* heights, double* position, int radius, int rows, int cols) {
    const Terrain terrain(heights, rows, cols);
    const int side = 2 * radius + 1;
    const double weight = 1.0 / (side * side);
    for (int y = 0; y < rows; ++y) {
        for (int x = 0; x < cols; ++x) {
            double around = 0;
            for (int dy = -radius; dy <= radius; ++dy) {
                for (int dx = -radius; dx <= radius; ++dx) around += weight * terrain.at(y + dy, x + dx);
            }
            position[y * cols + x] = terrain.at(y, x) - around;
        }
    }
}
