// Holds threads up at random where they read and write memory, so that a data race that nearly never
// shows does so within some calls. It stands in for the runtime of -fsanitize=thread, whose calls mark
// every access of the candidate: no access is judged here, only delayed. What such a call returns is
// compared with the truth like that of any other, so that a race without consequence accuses nobody.
//
// In each call other places of the code are picked, an eighth of them, and half of those that write
// what their thread read last: an update without a lock is lost if another comes between. Likelier
// still are places that come after a long loop, however many elements that had: what threads do
// seldom, such as adding their sums or looking at a flag, is what goes wrong. A thread is held up once
// at such a place, mostly when it first passes; at an update again, soon or after about twice as many
// passes, as the last of a few counts where a largest is looked for. It goes on when its time is up, or
// soon after another thread has come to the same address; at every other update when that address has
// been quiet for a while: what it writes then is the last word, and a larger one is lost for good.
// Chance comes from the number of the call.
#include <stdint.h>
#include <time.h>

namespace {

constexpr int PLACES = 256;  // of the code, that a thread keeps in mind
constexpr int THREADS = 512;  // that have a memory of their own; some library starts new ones always
constexpr long SHORTEST = 8000, DOUBLINGS = 9;  // of a pause, in nanoseconds
constexpr long LONGEST = 4000000;  // of all pauses of a thread in a call, if that is not long itself
constexpr int SHARE = 4;           // of the time that a call took so far: a pause at a seldom place
constexpr uint64_t LOOP = 64, AFTER = 16;  // passes without a new place; places that follow them
constexpr int ADDRESSES = 64;      // at which threads are held up
constexpr int QUIET = 3;           // looks at an address between which nobody has come to it
constexpr uint64_t NEVER = ~uint64_t(0);

struct Place {
  const void *code;
  uint64_t left;  // passes before it is held up there
  uint64_t held;  // how often it was
};

struct Thread {
  uint64_t call, chance;
  uint64_t since, seldom;  // passes since it met a new place; how many places after a loop are left
  long held;               // nanoseconds in this call
  const void *read;        // address that it read last
  Place places[PLACES];
};

struct Meeting {
  const void *address;
  uint64_t comers;
};

uint64_t calls, threads, most;
long began;  // when the call did
Meeting meetings[ADDRESSES];
Thread memories[THREADS];
__thread Thread *self __attribute__((tls_model("initial-exec")));

// A bijection in which every bit of the argument changes about half of the result's (MurmurHash3).
uint64_t mixed(uint64_t x) {
  x = (x ^ x >> 33) * 0xff51afd7ed558ccdu;
  x = (x ^ x >> 33) * 0xc4ceb9fe1a85ec53u;
  return x ^ x >> 33;
}

void sleep() {
  const timespec pause = {0, SHORTEST};  // the system adds some 50 microseconds
  nanosleep(&pause, nullptr);
}

long now() {
  timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return at.tv_sec * 1000000000 + at.tv_nsec;
}

// Until another thread has come here, and a little longer, or for so long; to outlast them: until none
// comes any more.
void hold(const void *address, Meeting &meeting, long nanoseconds, bool outlast) {
  __atomic_store_n(&meeting.address, address, __ATOMIC_RELAXED);
  const uint64_t before = __atomic_load_n(&meeting.comers, __ATOMIC_RELAXED);
  uint64_t last = before;
  int quiet = 0;
  for (const long end = now() + nanoseconds; now() < end;) {
    sleep();
    const uint64_t comers = __atomic_load_n(&meeting.comers, __ATOMIC_RELAXED);
    if (comers == before) continue;
    if (!outlast) return sleep();
    quiet = comers == last ? quiet + 1 : 0;
    last = comers;
    if (quiet == QUIET) return;
  }
}

// A thread's memory for this call.
Thread &memory() {
  const uint64_t call = __atomic_load_n(&calls, __ATOMIC_RELAXED);
  if (self && self->call == call) return *self;
  const uint64_t number = __atomic_add_fetch(&threads, 1, __ATOMIC_RELAXED);
  if (!self) self = &memories[number % THREADS];
  *self = Thread();
  self->call = call;
  self->chance = mixed(call << 16 ^ number);
  return *self;
}

// How often a thread passes a place that it comes to for the first time in a call before it is held.
uint64_t left_at(Thread &me, uint64_t key, bool update) {
  if (me.since >= LOOP) me.seldom = AFTER;
  me.since = 0;
  const bool seldom = me.seldom && me.seldom--;
  const uint64_t odds = mixed(key ^ me.call);  // the same for all threads
  me.chance = mixed(me.chance + key);
  if (seldom) return odds % (update ? 4 : 2) ? 0 : NEVER;
  if (odds % (update ? 2 : 8)) return NEVER;
  return me.chance & 3 ? 0 : me.chance >> 32 >> (me.chance >> 8) % 32;
}

void pass(const void *address, bool write, const void *code) {
  Meeting &meeting = meetings[(reinterpret_cast<uint64_t>(address) >> 2) % ADDRESSES];
  if (address && __atomic_load_n(&meeting.address, __ATOMIC_RELAXED) == address)
    __atomic_add_fetch(&meeting.comers, 1, __ATOMIC_RELAXED);
  Thread &me = memory();
  const bool update = write && me.read == address;
  if (!write) me.read = address;
  const uint64_t key = reinterpret_cast<uint64_t>(code) * 0x9e3779b97f4a7c15u;
  Place &place = me.places[key >> 56];
  if (place.code == code)
    ++me.since;
  else
    place = {code, left_at(me, key, update), 0};
  if (place.left == NEVER || place.left-- != 0) return;
  if (update) {
    const uint64_t gap = me.chance & 1 << 20 ? 4 : uint64_t(2) << place.held % 32;
    place.left = mixed(me.chance + ++place.held) % gap;
  }
  const long took = now() - began;
  if (me.held > LONGEST + took / SHARE) return;
  long time = SHORTEST << (me.chance >> 40) % DOUBLINGS;
  if (me.seldom && time < took / SHARE) time = took / SHARE;
  me.held += time;
  hold(address, meeting, time, update && mixed(me.chance + place.held) & 1);
}

}  // namespace

#define EXPORT extern "C" __attribute__((visibility("default")))

extern "C" {
int omp_get_max_threads() __attribute__((weak));
void omp_set_num_threads(int) __attribute__((weak));
}

// Before each call. Teams change: the first, and one of four later, has a thread less than the others.
EXPORT void regraph_perturb() {
  began = now();
  const uint64_t call = __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
  if (!omp_get_max_threads) return;
  if (!most) most = omp_get_max_threads();
  omp_set_num_threads(call % 4 == 1 && most > 1 ? most - 1 : most);
}

extern "C" {
void *__real_memset(void *, int, uint64_t);
void *__real_memcpy(void *, const void *, uint64_t);
void *__real_memmove(void *, const void *, uint64_t);
}

#define CODE __builtin_return_address(0)
#define READ(name) void __tsan_##name(void *at) { pass(at, false, CODE); }
#define WRITE(name) void __tsan_##name(void *at) { pass(at, true, CODE); }
#define BITS(n, type)                                                                             \
  type __tsan_atomic##n##_load(const volatile type *at, int) {                                    \
    pass(nullptr, false, CODE);                                                                   \
    return __atomic_load_n(at, __ATOMIC_SEQ_CST);                                                 \
  }                                                                                               \
  void __tsan_atomic##n##_store(volatile type *at, type value, int) {                             \
    pass(nullptr, false, CODE);                                                                   \
    __atomic_store_n(at, value, __ATOMIC_SEQ_CST);                                                \
  }                                                                                               \
  int __tsan_atomic##n##_compare_exchange_strong(                                                 \
      volatile type *at, type *old, type value, int, int) {                                       \
    return __atomic_compare_exchange_n(at, old, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);\
  }                                                                                               \
  int __tsan_atomic##n##_compare_exchange_weak(                                                   \
      volatile type *at, type *old, type value, int, int) {                                       \
    return __atomic_compare_exchange_n(at, old, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);\
  }                                                                                               \
  UPDATE(n, type, exchange, __atomic_exchange_n)                                                  \
  UPDATE(n, type, fetch_add, __atomic_fetch_add)                                                  \
  UPDATE(n, type, fetch_sub, __atomic_fetch_sub)                                                  \
  UPDATE(n, type, fetch_and, __atomic_fetch_and)                                                  \
  UPDATE(n, type, fetch_or, __atomic_fetch_or)                                                    \
  UPDATE(n, type, fetch_xor, __atomic_fetch_xor)                                                  \
  UPDATE(n, type, fetch_nand, __atomic_fetch_nand)
#define UPDATE(n, type, name, builtin)                                                            \
  type __tsan_atomic##n##_##name(volatile type *at, type value, int) {                            \
    return builtin(at, value, __ATOMIC_SEQ_CST);                                                  \
  }

extern "C" {
READ(read1) READ(read2) READ(read4) READ(read8) READ(read16) READ(vptr_read)
READ(unaligned_read2) READ(unaligned_read4) READ(unaligned_read8) READ(unaligned_read16)
WRITE(write1) WRITE(write2) WRITE(write4) WRITE(write8) WRITE(write16)
WRITE(unaligned_write2) WRITE(unaligned_write4) WRITE(unaligned_write8) WRITE(unaligned_write16)
BITS(8, uint8_t) BITS(16, uint16_t) BITS(32, uint32_t) BITS(64, uint64_t)
void __tsan_read_range(void *at, uint64_t) { pass(at, false, CODE); }
void __tsan_write_range(void *at, uint64_t) { pass(at, true, CODE); }
void *__wrap_memset(void *to, int byte, uint64_t bytes) {
  pass(to, true, CODE);
  return __real_memset(to, byte, bytes);
}
void *__wrap_memcpy(void *to, const void *from, uint64_t bytes) {
  pass(to, true, CODE);
  return __real_memcpy(to, from, bytes);
}
void *__wrap_memmove(void *to, const void *from, uint64_t bytes) {
  pass(to, true, CODE);
  return __real_memmove(to, from, bytes);
}
void __tsan_atomic_thread_fence(int) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
void __tsan_atomic_signal_fence(int) {}
void __tsan_vptr_update(void *, void *) {}
void __tsan_func_entry(void *) {}
void __tsan_func_exit() {}
void __tsan_init() {}
}
