// Headings are sums of whole ticks, so the threads' parts know theirs after one pass over the encoders. A second pass
// adds up each part's way with vector sines, a third does so again from the right place and writes each pose once.
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

// math.h offers these only under -ffast-math; the vector forms are the same ones.
#pragma omp declare simd notinbranch
extern "C" double sin(double) noexcept;
#pragma omp declare simd notinbranch
extern "C" double cos(double) noexcept;

struct Pose {
    double x, y, heading;
};

namespace {
constexpr int kBlock = 512;

struct Part {
    int begin, end;
    int64_t ticks;  // right less left, of all samples before
    double x, y;
    char other_lines[64];
};

struct Steps {
    int64_t after[kBlock];
    double x[kBlock], y[kBlock], angle[kBlock];

    // The next stretches of the way; gives back the ticks after them.
    int64_t take(const int16_t* __restrict left, const int16_t* __restrict right, int count, int64_t ticks,
                 double per_tick, double per_turn) {
        for (int i = 0; i < count; ++i) {
            ticks += right[i] - left[i];
            after[i] = ticks;
        }
#pragma omp simd
        for (int i = 0; i < count; ++i) {  // sine and cosine in one loop would become a call that has no vector form
            angle[i] = 0.5 * per_turn * (double)(2 * after[i] - (right[i] - left[i]));
            x[i] = 0.5 * per_tick * (left[i] + right[i]) * cos(angle[i]);
        }
#pragma omp simd
        for (int i = 0; i < count; ++i) y[i] = 0.5 * per_tick * (left[i] + right[i]) * sin(angle[i]);
        return ticks;
    }
};
}  // namespace

extern "C" void wheel_odometry(const int16_t* __restrict left, const int16_t* __restrict right, Pose* __restrict track,
                               double per_tick, double base, int samples) {
    const int threads = std::min(omp_get_max_threads(), 1 + samples / 4096);
    const double per_turn = per_tick / base;
    std::vector<Part> parts(threads);
#pragma omp parallel num_threads(threads)
    {
        const int team = omp_get_num_threads(), id = omp_get_thread_num();
        Part& mine = parts[id];
        mine = {(int)((int64_t)samples * id / team), (int)((int64_t)samples * (id + 1) / team), 0, 0, 0, {}};
        Steps steps;
        int64_t ticks = 0, before = 0;
        for (int i = mine.begin; i < mine.end; ++i) ticks += right[i] - left[i];
        mine.ticks = ticks;
#pragma omp barrier
        for (int t = 0; t < id; ++t) before += parts[t].ticks;
        double x = 0, y = 0;
        ticks = before;
        for (int begin = mine.begin; begin < mine.end && id + 1 < team; begin += kBlock) {  // nobody needs the last part's
            const int count = std::min(kBlock, mine.end - begin);
            ticks = steps.take(left + begin, right + begin, count, ticks, per_tick, per_turn);
#pragma omp simd reduction(+ : x, y)
            for (int i = 0; i < count; ++i) {
                x += steps.x[i];
                y += steps.y[i];
            }
        }
        mine.x = x;
        mine.y = y;
#pragma omp barrier
        x = y = 0;
        for (int t = 0; t < id; ++t) {
            x += parts[t].x;
            y += parts[t].y;
        }
        ticks = before;
        for (int begin = mine.begin; begin < mine.end; begin += kBlock) {
            const int count = std::min(kBlock, mine.end - begin);
            ticks = steps.take(left + begin, right + begin, count, ticks, per_tick, per_turn);
            for (int i = 0; i < count; ++i) {
                x += steps.x[i];
                y += steps.y[i];
                track[begin + i] = {x, y, per_turn * (double)steps.after[i]};
            }
        }
    }
}
