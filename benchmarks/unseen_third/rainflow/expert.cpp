// Channels to the threads. Turning points first, without a branch; then the stack in one plain array whose upper three
// points stay in registers.
#include <cmath>
#include <cstddef>
#include <vector>

namespace {
inline int turning_points(const float* __restrict x, int samples, float* __restrict out) {
    int count = 1, way = 2;  // 2: neither up nor down yet
    float last = x[0];
    out[0] = last;
    for (int s = 1; s < samples; ++s) {
        const float next = x[s];
        const int up = next > last, moved = next != last;
        count += moved & (up != way);
        way = moved ? up : way;
        out[count - 1] = next;
        last = next;
    }
    return count;
}
}  // namespace

extern "C" void rainflow(const float* __restrict load, double* __restrict damage, int* __restrict cycles,
                         int* __restrict residue, int channels, int samples) {
#pragma omp parallel
    {
        std::vector<float> points(samples);
        std::vector<double> room(samples + 4);
#pragma omp for schedule(dynamic, 4)
        for (int c = 0; c < channels; ++c) {
            const int count = turning_points(load + (size_t)c * samples, samples, points.data());
            double* stack = room.data();  // below the upper three
            double sum = 0, a = 0, b = 0, y = 0;
            int whole = 0, n = 0;  // n: all points on the stack
            for (int k = 0; k < count; ++k) {
                const double z = points[k];
                double outer = std::fabs(z - y), inner = std::fabs(y - b);
                while (n >= 3 && inner <= outer && inner <= std::fabs(b - a)) {
                    sum += inner * inner * inner;
                    ++whole;
                    n -= 2;
                    y = a;  // b and y go; what was below moves up
                    b = n >= 2 ? stack[n - 2] : 0;
                    a = n >= 3 ? stack[n - 3] : 0;
                    outer = std::fabs(z - y);
                    inner = std::fabs(y - b);
                }
                if (n >= 3) stack[n - 3] = a;
                if (n >= 2) stack[n - 2] = b;
                if (n >= 1) stack[n - 1] = y;
                a = b;
                b = y;
                y = z;
                ++n;
            }
            stack[n - 1] = y;
            for (int k = 1; k < n; ++k) {
                const double range = std::fabs(stack[k] - stack[k - 1]);
                sum += 0.5 * range * range * range;
            }
            damage[c] = sum;
            cycles[c] = whole;
            residue[c] = n;
        }
    }
}
