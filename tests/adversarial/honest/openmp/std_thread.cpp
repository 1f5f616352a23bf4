// style: C++ threads started and joined in each call, std::atomic
#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  std::atomic<int> total{0};
  auto work = [&](int first, int last) {
    int count = 0;
    for (int i = first; i < last; ++i) {
      y[i] = i > 0 && i < n - 1 ? 0.25f * x[i - 1] + 0.5f * x[i] + 0.25f * x[i + 1] : 0.0f;
      count += x[i] > 0.0f;
    }
    total += count;
  };
  const int parts = std::max(1u, std::min(4u, std::thread::hardware_concurrency()));
  std::vector<std::thread> threads;
  for (int part = 0; part < parts; ++part)
    threads.emplace_back(work, int(long(n) * part / parts), int(long(n) * (part + 1) / parts));
  for (auto &thread : threads) thread.join();
  *positive = total;
}
