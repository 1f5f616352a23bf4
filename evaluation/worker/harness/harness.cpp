// Trusted half of a worker: maps the shared memory, prepares the device, then loads candidates, calls
// them, times them, as it is told through that memory. Nothing of the verdict is decided here.
// `signature.h` is generated for each signature:
//   ARGUMENTS, is_array[], call(function, pointers to arguments); after PARAMETERS of them comes what
//   is returned, if anything is
// REGRAPH_CUDA: the CUDA runtime's device-wide synchronisation and last error inside every call;
// REGRAPH_DEVICE: array arguments are device pointers into a copy of the shared arrays; before every
// timed call these are unsealed and L2 is swept, after the last one of a batch the outputs' digests are
// published (ready.cu).
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <malloc.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifdef REGRAPH_CUDA
#include <cuda_runtime_api.h>
#endif

#include "signature.h"

namespace {

struct Control {  // field for field the Control of shared_memory.py
  uint64_t size, nonce, bytes;
  uint32_t command, finished;
  uint64_t done;
  uint32_t stage, operation;
  uint64_t count, nanoseconds;
  int64_t status;
  uint64_t fault, sequence_at, parts_at, rows_at, spans_at, guards_at, guards, sealed_at, key[2];
  uint64_t confined, flags, allocations, launches, frees, steps, digests_at;
  uint32_t outputs_first, outputs;
  char message[512];
};

struct Span {  // field for field SPAN of shared_memory.py
  uint64_t at, bytes;
};

struct Part {  // field for field PART of shared_memory.py
  uint32_t first, arrays, elements;
};

struct Wraps {  // field for field the Wraps of wraps.cpp
  int poison, guard, ghost;
  uint64_t allocations, launches, frees;
  uint64_t (*damaged)();
};

enum Operation {
  CALLS = 1, UPLOAD, DOWNLOAD, SETTLE, EXIT, LOAD, GHOST, SWEEPS, PROFILE
};
enum Stage { STARTED = 0, READY = 1, LOADING = 2, LOADED = 3 };

enum Flag {
  POISONED = 1, DEVICE_SYNC = 2, DEVICE_ERRORS = 4, DEVICE_GUARDS = 8, DEVICE_STATE = 16
};

constexpr int MAX_BATCH = 4096, MAX_SPANS = 4096;
constexpr int64_t DAMAGED = -3, CHANGED = -4, UNRESTORED = -5;  // statuses
constexpr int POISON = 0xA5;  // glibc fills malloc'ed memory with it until SETTLE
constexpr int POPULATE_WRITE = 23;  // MADV_POPULATE_WRITE, Linux 5.14
constexpr uint64_t PAGE = 4096;

char *shared;
Control *control;
uint64_t nonce;
uint64_t shared_bytes, sealed_at, flags;
uint64_t rows[MAX_BATCH][ARGUMENTS];
Part parts[MAX_BATCH];  // of this batch
void *arguments[MAX_BATCH][ARGUMENTS];
const char *entry;
void *library, *function;  // the candidate
Wraps *wraps;  // of a CUDA candidate
void (*perturb)();  // of perturb.cpp, in a candidate that was compiled with it
uint32_t mode_at_first;  // once the candidate is loaded
bool settled;
int (*profile_begin)();  // of profile.cpp, where that was loaded
int (*profile_end)(char *, size_t);
char *array_base;  // what array offsets count from: the shared memory, or its copy on the device

uint64_t now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC_RAW, &t);
  return uint64_t(t.tv_sec) * 1000000000u + t.tv_nsec;
}

void say(int64_t status, const char *text) {
  control->status = status;
  snprintf(control->message, sizeof control->message, "%s", text ? text : "unknown error");
}

// Of floating-point numbers: rounding, flush-to-zero, denormals-are-zero. The calling convention has
// a function put them back.
uint32_t mode() {
#ifdef __x86_64__
  return __builtin_ia32_stmxcsr() & ~0x3fu;
#else
  return 0;
#endif
}

#ifdef REGRAPH_CUDA
bool cuda(cudaError_t error) {
  if (error == cudaSuccess) return true;
  if (!control->status) say(error, cudaGetErrorString(error));
  return false;
}

#ifdef REGRAPH_DEVICE
struct Entry;
struct Key {  // of this batch
  uint64_t word[2];
} key;

extern "C" cudaError_t regraph_sweep_open();
extern "C" void regraph_sweep();
extern "C" void regraph_nothing();
extern "C" void regraph_unseal(char *base, uint64_t table, const Entry *entries, Part, Key);
extern "C" void regraph_digest(const char *base, uint64_t table, const Entry *entries, Part outputs,
                               uint64_t *digests, Key);

bool device_arrays() {
  void *copy = nullptr;
  if (!cuda(cudaMalloc(&copy, shared_bytes - sealed_at))) return false;
  array_base = static_cast<char *>(copy) - sealed_at;
  return cuda(regraph_sweep_open());
}

// What opens the inputs of a batch: to private memory.
void take_parts(uint64_t count) {
  memcpy(parts, shared + control->parts_at, count * sizeof *parts);
  memcpy(&key, control->key, sizeof key);
  memset(control->key, 0, sizeof key);
}

// Unseals what a call of the batch works on. With a sweep the last call left nothing of the inputs
// in L2, no dirty line and no persisting one. Errors here are the candidate's, if anybody's:
// device_settled tells.
void ready(uint64_t i, bool sweeping) {
  const Part &part = parts[i];
  if (sweeping && flags & DEVICE_STATE) cudaCtxResetPersistingL2Cache();
  if (part.arrays || part.elements) {
    const Entry *entries = reinterpret_cast<Entry *>(shared + sealed_at);
    regraph_unseal(array_base, sealed_at, entries, part, key);
  }
  if (sweeping) regraph_sweep();
  cudaDeviceSynchronize();  // else a stream of the candidate's own would run beside it
}

// Publishes what the outputs are as the last call ends: what is written later is in no digest.
void publish() {
  if (!control->outputs) return;
  const Part outputs = {control->outputs_first, control->outputs, 0};
  regraph_digest(array_base, sealed_at, reinterpret_cast<Entry *>(shared + sealed_at), outputs,
                 reinterpret_cast<uint64_t *>(shared + control->digests_at), key);
}

// Before the first call of a batch: a device that rested, or worked for another process, takes a
// while to begin.
void wake(bool sweeping) {
  if (!sweeping) return;
  regraph_sweep();
  regraph_nothing();
  cudaDeviceSynchronize();
}

constexpr bool ON_DEVICE = true;
#else
constexpr bool ON_DEVICE = false;
bool device_arrays() { return true; }
void take_parts(uint64_t) {}
void ready(uint64_t, bool) {}
void publish() {}
void wake(bool) {}
void regraph_nothing() {}
#endif

const struct { cudaLimit limit; const char *name; } LIMITS[] = {
    {cudaLimitStackSize, "stack size"},
    {cudaLimitMallocHeapSize, "heap size"},
    {cudaLimitPersistingL2CacheSize, "persisting L2 size"},
};
size_t limits_at_first[3];

bool device_open() {
  if (!cuda(cudaFree(nullptr)) || !device_arrays()) return false;
  for (int i = 0; i < 3; ++i) cuda(cudaDeviceGetLimit(&limits_at_first[i], LIMITS[i].limit));
  return control->status == 0;
}

// What the candidate left changed on the device would favour its next call.
void note_limits() {
  for (int i = 0; i < 3; ++i) {
    size_t now_is = 0;
    if (cudaDeviceGetLimit(&now_is, LIMITS[i].limit)) return;
    if (now_is == limits_at_first[i]) continue;
    char text[128];
    snprintf(text, sizeof text, "left the device's %s at %zu instead of %zu: put it back",
             LIMITS[i].name, now_is, limits_at_first[i]);
    return say(CHANGED, text);
  }
}

bool device_settled(uint64_t how) {
  cudaError_t launch = how & DEVICE_ERRORS ? cudaGetLastError() : cudaSuccess;
  cudaError_t finish = how & DEVICE_SYNC ? cudaDeviceSynchronize() : cudaSuccess;
  return cuda(launch) && cuda(finish);
}

// Copies the spans of the shared memory's table to the device, or back.
void transfer(bool upload, uint64_t count) {
#ifdef REGRAPH_DEVICE
  const Span *spans = reinterpret_cast<Span *>(shared + control->spans_at);
  for (uint64_t i = 0; i < count && count <= MAX_SPANS; ++i) {
    char *host = shared + spans[i].at, *device = array_base + spans[i].at;
    cuda(upload ? cudaMemcpy(device, host, spans[i].bytes, cudaMemcpyHostToDevice)
                : cudaMemcpy(host, device, spans[i].bytes, cudaMemcpyDeviceToHost));
  }
  if (upload && settled) regraph_sweep();  // else the first sweep of the batch has to write it back
  cudaDeviceSynchronize();  // what is copied last may be on its way yet
#else
  (void)upload, (void)count;
#endif
}
#else
bool device_open() { return true; }
void note_limits() {}
bool device_settled(uint64_t) { return true; }
void transfer(bool, uint64_t) {}
void take_parts(uint64_t) {}
void ready(uint64_t, bool) {}
void publish() {}
void wake(bool) {}
void regraph_nothing() {}
constexpr bool ON_DEVICE = false;
#endif

void futex(uint32_t *word, int operation, uint32_t value) {
  syscall(SYS_futex, word, operation, value, nullptr, nullptr, 0);
}

void finish(uint32_t number) {
  __atomic_store_n(&control->done, nonce + number, __ATOMIC_RELEASE);
  __atomic_store_n(&control->finished, number, __ATOMIC_RELEASE);
  futex(&control->finished, FUTEX_WAKE, 1);
}

void await(uint32_t number) {
  for (int spin = 0; spin < 20000; ++spin)
    if (__atomic_load_n(&control->command, __ATOMIC_ACQUIRE) == number) return;
  for (;;) {
    uint32_t seen = __atomic_load_n(&control->command, __ATOMIC_ACQUIRE);
    if (seen == number) return;
    futex(&control->command, FUTEX_WAIT, seen);
  }
}

// Leaves the address for the diagnosis, then lets the process die of the same fault.
void on_fault(int, siginfo_t *info, void *) {
  uint64_t at = reinterpret_cast<uint64_t>(info->si_addr), base = reinterpret_cast<uint64_t>(shared);
  control->fault = at >= base && at < base + shared_bytes ? at - base : 0;
  // SA_RESETHAND: the same instruction faults again, and ends the process
}

void watch_faults() {
  static char stack[64 * 1024];
  stack_t alternative = {};
  alternative.ss_sp = stack;
  alternative.ss_size = sizeof stack;
  sigaltstack(&alternative, nullptr);
  struct sigaction action = {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESETHAND;
  sigaction(SIGSEGV, &action, nullptr);
  sigaction(SIGBUS, &action, nullptr);
}

// Device allocations and launches of these calls; what they left behind that they must not.
void note_traces() {
  control->allocations = wraps->allocations;
  control->launches = wraps->launches;
  control->frees = wraps->frees;
  wraps->allocations = wraps->launches = wraps->frees = 0;
  if (flags & DEVICE_STATE && !control->status) note_limits();
  const uint64_t bytes = wraps->guard && !control->status ? wraps->damaged() : 0;
  if (!bytes) return;
  char text[128];
  snprintf(text, sizeof text, "wrote past the end of a device allocation of %llu bytes",
           static_cast<unsigned long long>(bytes));
  say(DAMAGED, text);
}

// Copies the rows of a batch to private memory. The judge's clock runs already.
void prepare(uint64_t count) {
  uint32_t *sequence = reinterpret_cast<uint32_t *>(shared + control->sequence_at);
  const char *table = shared + control->rows_at;
  for (uint64_t i = 0; i < count; ++i) {
    memcpy(rows[i], table + sequence[i] * sizeof rows[i], sizeof rows[i]);
    for (int a = 0; a < PARAMETERS; ++a)
      arguments[i][a] = is_array[a] ? static_cast<void *>(array_base + rows[i][a]) : &rows[i][a];
    for (int a = PARAMETERS; a < ARGUMENTS; ++a)  // what is returned comes to the host
      arguments[i][a] = shared + rows[i][a];
  }
  take_parts(count);
  memset(sequence, 0, count * sizeof *sequence);  // the candidate need not know what follows
  control->count = 0;
}

// The first call is made ready, a call begins, or is over: the judge's stopwatch looks on (clock.cpp).
void step() { __atomic_store_n(&control->steps, control->steps + 1, __ATOMIC_RELEASE); }

void run_calls(uint64_t count) {
  if (count > MAX_BATCH) return;
  prepare(count);
  wake(settled);
  step();
  uint64_t start = now(), swept = 0;
  bool good = true;
  for (uint64_t i = 0; i < count && good; ++i) {
    if (ON_DEVICE) {
      const uint64_t before = now();
      ready(i, settled);
      swept += now() - before;
    }
    if (perturb) perturb();
    step();
    call(function, arguments[i]);
    good = device_settled(flags);
    step();
  }
  control->nanoseconds = now() - start - swept;
  publish();
  if (wraps) note_traces();
  if (!control->status && mode() != mode_at_first)
    say(UNRESTORED, "left another floating-point mode (rounding, flush-to-zero or"
                    " denormals-are-zero) than it found: put it back before returning");
}

// What getting that many timed calls ready takes, and a kernel that does nothing.
void run_sweeps(uint64_t count) {
  if (count > MAX_BATCH) return;
  take_parts(count);
  wake(true);
  step();
  const uint64_t start = now();
  for (uint64_t i = 0; i < count; ++i) {
    ready(i, true);
    step();
    regraph_nothing();
    device_settled(flags);
    step();
  }
  control->nanoseconds = now() - start;
  publish();
  if (flags & DEVICE_STATE) note_limits();
}

// Calls whose launches do nothing: what is right afterwards was not computed by a kernel.
void run_ghost(uint64_t count) {
  if (!wraps) return;
  wraps->ghost = 1;
  run_calls(count);
  wraps->ghost = 0;
}

// One call between two readings of the profiler; what that saw is the message.
void run_profile(uint64_t count) {
  if (!profile_end || count != 1) return;
  prepare(count);
  ready(0, settled);
  profile_begin();
  call(function, arguments[0]);
  device_settled(flags);
  if (!control->status) profile_end(control->message, sizeof control->message);
}

// Ends the poison of allocations and maps every page here, outside the timed spans.
void settle() {
  settled = true;
  mallopt(M_PERTURB, 0);
  if (wraps) wraps->poison = wraps->guard = 0;
  const uint64_t *guards = reinterpret_cast<uint64_t *>(shared + control->guards_at);
  for (uint64_t i = 0; i + 1 < control->guards; ++i) {
    char *first = shared + guards[i] + PAGE;
    const size_t bytes = guards[i + 1] - guards[i] - PAGE;
    if (madvise(first, bytes, POPULATE_WRITE) == 0) continue;
    for (size_t at = 0; at < bytes; at += PAGE) static_cast<volatile char *>(first)[at];
  }
}

void unload() {
  if (library) dlclose(library);
  library = function = nullptr;
  wraps = nullptr;
  perturb = nullptr;
  settled = false;
}

// The candidate lies in an anonymous file that the judge has filled: no path, nothing to be found.
void load(uint64_t descriptor) {
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fd/%llu", static_cast<unsigned long long>(descriptor));
  unload();
  control->stage = LOADING;
  if (flags & POISONED) mallopt(M_PERTURB, POISON);
  library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  close(static_cast<int>(descriptor));
  if (library) function = dlsym(library, entry);
  if (!function) return say(library ? -2 : -1, dlerror());
  wraps = static_cast<Wraps *>(dlsym(library, "regraph_wraps"));
#ifndef REGRAPH_CUDA
  perturb = reinterpret_cast<void (*)()>(dlsym(library, "regraph_perturb"));
#endif
  if (wraps && !(flags & POISONED)) wraps->poison = 0;
  if (wraps && !(flags & DEVICE_GUARDS)) wraps->guard = 0;
  mode_at_first = mode();
  control->stage = LOADED;
}

void obey(uint32_t operation) {
  if (operation == LOAD) load(control->count);
  if (operation == UPLOAD || operation == DOWNLOAD)
    transfer(operation == UPLOAD, control->count);
  if (operation == SWEEPS) run_sweeps(control->count);
  if (operation == EXIT) _exit(0);
  if (!function) return;
  if (operation == CALLS) run_calls(control->count);
  if (operation == GHOST) run_ghost(control->count);
  if (operation == PROFILE) run_profile(control->count);
  if (operation == SETTLE) settle();
}

}  // namespace

// Maps the shared memory, prepares the device; returns 0, else a reason is in that memory (or errno).
extern "C" int regraph_open(int descriptor, uint64_t bytes) {
  void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  close(descriptor);
  if (memory == MAP_FAILED) return 1;
  shared = array_base = static_cast<char *>(memory);
  control = static_cast<Control *>(memory);
  if (control->size != sizeof(Control) || control->bytes != bytes) return 2;
  shared_bytes = bytes;
  sealed_at = control->sealed_at;
  nonce = control->nonce;
  control->nonce = 0;
  flags = control->flags;
  const uint64_t *guards = reinterpret_cast<uint64_t *>(shared + control->guards_at);
  for (uint64_t i = 0; i < control->guards; ++i)
    if (mprotect(shared + guards[i], PAGE, PROT_NONE)) return 3;
  watch_faults();  // once it is confined that is refused
  return device_open() ? 0 : 4;
}

// The shared memory stays where it is: nothing is laid over it, no page of it made to fault.
extern "C" void regraph_seal() {
  syscall(462 /* mseal, Linux 6.10 */, shared, shared_bytes, 0);
}

// Before regraph_open: loads profile.cpp's library, which records from now on. Returns 0 if it does.
extern "C" int regraph_profiled(const char *path) {
  void *recorder = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!recorder) return 1;
  profile_begin = reinterpret_cast<int (*)()>(dlsym(recorder, "regraph_profile_begin"));
  profile_end = reinterpret_cast<int (*)(char *, size_t)>(dlsym(recorder, "regraph_profile_end"));
  int (*open)() = reinterpret_cast<int (*)()>(dlsym(recorder, "regraph_profile_open"));
  return open && profile_begin && profile_end ? open() : 2;
}

// What confines this process by now, as bits; see worker.py.
extern "C" void regraph_confined(uint64_t what) { control->confined = what; }

// Serves commands until EXIT. Command 0 is to be ready.
extern "C" void regraph_serve(const char *name) {
  entry = name;
  control->stage = READY;
  finish(0);
  for (uint32_t number = 1;; ++number) {
    await(number);
    control->status = 0;
    obey(control->operation);
    finish(number);
  }
}
