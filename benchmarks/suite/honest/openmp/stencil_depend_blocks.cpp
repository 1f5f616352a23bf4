// problem: corpus/problems/stencil
// style: all sweeps as one graph of tasks: blocks of rows, depend on tokens of two grids
#include <algorithm>
#include <cstring>
#include <vector>

extern "C" void stencil(const float* in, float* out, int rows, int cols, int sweeps) {
  constexpr int HEIGHT = 24;
  const size_t width = cols;
  const int blocks = (rows + HEIGHT - 1) / HEIGHT;
  std::vector<float> room(rows * width);
  std::vector<char> marks(2 * (blocks + 2));
  float* grid[2] = {sweeps % 2 ? room.data() : out, sweeps % 2 ? out : room.data()};
  char* mark[2] = {marks.data() + 1, marks.data() + blocks + 3};  // of blocks -1 to `blocks`
#pragma omp parallel
#pragma omp single
  {
    for (int b = 0; b < blocks; ++b) {
      char *one = mark[0] + b, *two = mark[1] + b;
#pragma omp task depend(out : one[0], two[0]) firstprivate(b)
      {
        const size_t at = b * HEIGHT * width;
        const size_t bytes = (std::min(rows, (b + 1) * HEIGHT) - b * HEIGHT) * width * sizeof(float);
        memcpy(grid[0] + at, in + at, bytes);
        memcpy(grid[1] + at, in + at, bytes);
      }
    }
    for (int s = 0; s < sweeps; ++s) {
      const float* from = grid[s % 2];
      float* to = grid[(s + 1) % 2];
      for (int b = 0; b < blocks; ++b) {
        char *source = mark[s % 2] + b, *target = mark[(s + 1) % 2] + b;
#pragma omp task depend(in : source[-1], source[0], source[1]) depend(out : target[0]) \
    firstprivate(b, from, to)
        for (int i = std::max(1, b * HEIGHT); i < std::min(rows - 1, (b + 1) * HEIGHT); ++i)
          for (int j = 1; j < cols - 1; ++j) {
            const float* at = from + i * width + j;
            to[i * width + j] = 0.2f * (at[0] + *(at - width) + at[width] + at[-1] + at[1]);
          }
      }
    }
  }
}
