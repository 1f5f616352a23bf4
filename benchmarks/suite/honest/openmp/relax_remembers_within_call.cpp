// problem: tests/adversarial/problem/relax-many
// style: remembers results by value, in a table on each thread's stack that lives for one call
#include <stdint.h>
#include <string.h>

namespace {
class Table {
 public:
  explicit Table(int steps) : steps_(steps) { memset(used_, 0, sizeof used_); }

  float of(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    const uint32_t at = bits * 2654435761u >> 22;
    if (!used_[at] || key_[at] != bits) {
      used_[at] = true;
      key_[at] = bits;
      value_[at] = computed(x);
    }
    return value_[at];
  }

 private:
  float computed(float x) const {
    float value = 0.0f;
    for (int step = 0; step < steps_; ++step) value -= 0.1f * (value * value * value - x);
    return value;
  }

  const int steps_;
  bool used_[1024];
  uint32_t key_[1024];
  float value_[1024];
};
}  // namespace

extern "C" void relax(const float *x, float *y, int n, int steps) {
#pragma omp parallel
  {
    Table table(steps);
#pragma omp for schedule(dynamic, 64)
    for (int i = 0; i < n; ++i) y[i] = table.of(x[i]);
  }
}
