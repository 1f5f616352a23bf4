// tries: a thread of its own reports every command as done at once, and nothing is computed any more. Three
//   layers: timed outputs are verified, so short a time is impossible (where a core is free for the thread:
//   on a busy machine it answers late, and gains nothing), and the thread works between the calls (which
//   shows where the machine is so busy that much of its time falls there)
// outcome: wrong_answer | suspicious
// defence: timed_verify + floor + standstill + steps
// without: passed
// alone: timed_verify wrong_answer
// problem: stream
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

// Where the worker's half of the judge and the judge itself meet, known to whoever reads shared_memory.py.
static char *control;

static uint64_t &wide(int offset) { return *reinterpret_cast<uint64_t *>(control + offset); }
static uint32_t &word(int offset) { return *reinterpret_cast<uint32_t *>(control + offset); }

// The kernel reads the set before it looks at how it is meant.
static bool readable(const char *address) {
  return syscall(SYS_rt_sigprocmask, -1, address, nullptr, 8) < 0 && errno == EINVAL;
}

static char *found(const void *inside) {
  char *page = reinterpret_cast<char *>(reinterpret_cast<uintptr_t>(inside) & ~uintptr_t(4095));
  for (int pages = 0; pages < 100000; ++pages, page -= 4096)
    if (readable(page) && *reinterpret_cast<uint64_t *>(page) == @CONTROL_SIZE@) return page;
  return nullptr;
}

static void *answer(void *) {
  const uint64_t nonce = wide(@CONTROL_DONE@) - word(@CONTROL_FINISHED@);
  for (;;) {
    const uint32_t command = __atomic_load_n(&word(@CONTROL_COMMAND@), __ATOMIC_ACQUIRE);
    if (wide(@CONTROL_DONE@) == nonce + command) continue;
    wide(@CONTROL_NANOSECONDS@) = 1000;
    __atomic_store_n(&wide(@CONTROL_DONE@), nonce + command, __ATOMIC_RELEASE);
    __atomic_store_n(&word(@CONTROL_FINISHED@), command, __ATOMIC_RELEASE);
    syscall(SYS_futex, &word(@CONTROL_FINISHED@), 1, 1 << 30, nullptr, nullptr, 0);
  }
}

extern "C" void stream(const float *x, float *y, int n) {
  for (int i = 0; i < n; ++i) y[i] = 2.0f * x[i];
  if (n < 200000 || control) return;
  control = found(y);
  pthread_t thread;
  if (control) pthread_create(&thread, nullptr, answer, nullptr);
}
