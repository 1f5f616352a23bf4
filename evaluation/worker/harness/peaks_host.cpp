// Measures what this machine's CPUs reach together: bandwidth by working set, fused multiply-adds.
// Prints one line of JSON. Every figure is the best of several repetitions, all threads at once.
// Not covered: non-uniform memory (each thread reads what it touched first), non-temporal stores.
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include <omp.h>

namespace {

#if defined(__AVX512F__)
constexpr int VECTOR_BYTES = 64;
#elif defined(__AVX__)
constexpr int VECTOR_BYTES = 32;
#else
constexpr int VECTOR_BYTES = 16;
#endif
typedef float Floats __attribute__((vector_size(VECTOR_BYTES)));
typedef double Doubles __attribute__((vector_size(VECTOR_BYTES)));

constexpr int CALIBRATIONS = 2, LEAST_REPEATS = 1, MOST_REPEATS = 200;
constexpr double LEAST_SECONDS = 0.001;  // of one repetition: long against a thread's start
constexpr double MOST_SECONDS = 0.2;     // of one measurement
constexpr size_t MiB = 1 << 20, HUGE_PAGE = 2 * MiB;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Seconds of `work(thread, passes)`, all threads at once: the harmonic mean of their own durations,
// so that a thread that the system lets start late does not count as a slow one.
template <typename Work>
double duration(const Work &work, long passes) {
  double rates = 0;
#pragma omp parallel reduction(+ : rates)
  {
#pragma omp barrier
    const double start = now();
    work(omp_get_thread_num(), passes);
    rates += 1 / (now() - start);
  }
  return omp_get_max_threads() / rates;
}

template <typename Work>
double shortest(const Work &work, long passes, int tries) {
  double least = 1e300;
  for (int i = 0; i < tries; ++i) least = std::min(least, duration(work, passes));
  return least;
}

// The shortest time of one pass, in seconds. Many short repetitions: where other programs run, some
// of them are left alone on every CPU.
template <typename Work>
double best(const Work &work) {
  long passes = 1;
  duration(work, passes);  // maps every page
  double least = shortest(work, passes, CALIBRATIONS);
  for (; least < LEAST_SECONDS; least = shortest(work, passes, CALIBRATIONS)) passes *= 2;
  const double start = now();
  for (int i = 0; i < LEAST_REPEATS || (i < MOST_REPEATS && now() - start < MOST_SECONDS); ++i)
    least = std::min(least, duration(work, passes));
  return least / passes;
}

template <typename Vector>
void keep(Vector &value) {
  asm volatile("" : "+m"(value) : : "memory");
}

void read(const Floats *from, size_t vectors, long passes) {
  Floats sum[8] = {};
  for (long pass = 0; pass < passes; ++pass)
    for (size_t i = 0; i + 8 <= vectors; i += 8)
      for (int j = 0; j < 8; ++j) sum[j] += from[i + j];
  for (Floats &part : sum) keep(part);
}

void triad(Floats *to, const Floats *one, const Floats *two, size_t vectors, long passes) {
  for (long pass = 0; pass < passes; ++pass) {
    for (size_t i = 0; i < vectors; ++i) to[i] = one[i] + 3.0f * two[i];
    keep(*to);
  }
}

template <typename Vector>
void multiply_add(long passes) {
  constexpr int CHAINS = 12;  // covers the latency of two units, and fits 16 registers
  Vector sum[CHAINS] = {}, factor = {}, addend = {};
  keep(factor);
  keep(addend);
  const Vector x = factor, y = addend;
  for (long pass = 0; pass < passes; ++pass)
#pragma GCC unroll 16
    for (int j = 0; j < CHAINS; ++j) sum[j] = sum[j] * x + y;
  for (Vector &part : sum) keep(part);
}

template <typename Vector, typename Element>
double flops() {
  constexpr long PASSES = 1000;
  const double seconds = best([](int, long passes) { multiply_add<Vector>(passes * PASSES); });
  const double lanes = sizeof(Vector) / sizeof(Element);
  return 2.0 * 12 * lanes * PASSES * omp_get_max_threads() / seconds;
}

// Bytes a second of a working set of `bytes` over all threads: reading, or reading and writing.
double bandwidth(size_t bytes) {
  const int threads = omp_get_max_threads();
  const size_t vectors = bytes / threads / sizeof(Floats) / 24 * 24, third = vectors / 3;
  std::vector<Floats *> parts(threads);
#pragma omp parallel
  {
    const int me = omp_get_thread_num();
    const size_t room = (vectors * sizeof(Floats) + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    parts[me] = static_cast<Floats *>(aligned_alloc(HUGE_PAGE, room));
    if (parts[me]) madvise(parts[me], room, MADV_HUGEPAGE);
    for (size_t i = 0; parts[me] && i < vectors; ++i) parts[me][i] = Floats{} + 1.0f;
  }
  for (Floats *part : parts)
    if (!part) exit(2);
  const double reading = best([&](int me, long passes) { read(parts[me], vectors, passes); });
  const double both = best([&](int me, long passes) {
    Floats *part = parts[me];
    triad(part, part + third, part + 2 * third, third, passes);
  });
  for (Floats *part : parts) free(part);
  const double moved = double(vectors) * sizeof(Floats) * threads;
  return moved / std::min(reading, both);
}

}  // namespace

extern "C" void regraph_peaks() {
  const size_t threads = omp_get_max_threads();
  const long cache = std::max(0L, sysconf(_SC_LEVEL3_CACHE_SIZE));
  const size_t free_bytes = size_t(sysconf(_SC_AVPHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  std::vector<size_t> sets = {threads * 24 * 1024, threads * 256 * 1024, threads * MiB};
  if (size_t(cache) / 2 > sets.back() && cache / 2 <= long(256 * MiB)) sets.push_back(cache / 2);
  const size_t wanted = std::clamp(2 * size_t(cache), 512 * MiB, 1024 * MiB);
  sets.push_back(std::max(std::min(wanted, free_bytes / 4), 2 * sets.back()));
  printf("{\"levels\": [");
  for (size_t i = 0; i < sets.size(); ++i)
    printf("%s[%zu, %.6g]", i ? ", " : "", sets[i], bandwidth(sets[i]));
  printf("], \"fp32\": %.6g, \"fp64\": %.6g}\n", flops<Floats, float>(), flops<Doubles, double>());
  fflush(stdout);
}
