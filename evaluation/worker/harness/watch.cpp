// Watches which memory the iterations of each loop share, while serial code runs. It stands in for the
// runtime of -fsanitize=thread, whose calls mark every access. cpp/watched.py has written into the code
// where a loop begins, which variables are around it, and where its iterations begin.
//
// Two iterations share what one of them writes and another one reads or writes. Memory that an
// iteration allocates is new. Of the stack count the variables around the loop, by their numbers, as
// what vectors among them hold, and what callers have; all else there is an iteration's own.
// Everything else is "memory". Of elements that iterations only add to it is told which statements do.
#include <stddef.h>
#include <stdint.h>

extern "C" {
void *__real_memset(void *, int, uint64_t);
void *__real_memcpy(void *, const void *, uint64_t);
void *__real_memmove(void *, const void *, uint64_t);
void *__real_malloc(size_t);
void *__real_calloc(size_t, size_t);
void *__real__Znwm(size_t);
void *__real__Znam(size_t);
}

namespace {

constexpr int SITES = 64;    // loops of the text; evaluation/watch.py has the same
constexpr int NAMES = 62;    // variables around one
constexpr int LEVELS = 5;    // loops in one another that are told apart
constexpr int RANGES = 512;  // variables around all loops that run
constexpr uint64_t MOST = 8000000;  // accesses of a call; those after them are not seen
constexpr uintptr_t PAGE = 1024;     // bytes
constexpr size_t PAGES = 1 << 15, MOST_PAGES = 8000;

struct Site {
  int64_t iterations;  // the most of one of its runs
  int64_t memory;      // whether iterations shared some
  int64_t names;       // bits of the variables that they shared
  int64_t sums;        // bits of the statements by which several added to one element
};

struct Cell {
  uint32_t wrote[LEVELS], read[LEVELS];  // the iterations, by their stamps
  uint8_t sums, several;  // bits of the levels where each write was an addition, and of several iterations
};

struct Page {
  uintptr_t number;
  Cell cells[PAGE];
};

struct Running {
  int site, ranges;      // where its ranges begin
  uint32_t first, now;   // the stamps of its first iteration, and of this one
  int64_t iterations;
  const char *frame;     // what lies below is its function's own
  const char *variable;  // while a body runs, which must not set it
  size_t bytes;
};

struct Range {
  const char *from;
  size_t bytes;
  int name;
};

Site sites[SITES];
Running running[64];
Range ranges[RANGES];
int depth, listed;
uint32_t stamp;
uint64_t accesses;
const void *added;  // an element, by the statement of this bit
int64_t adds;
bool lost;  // it has not seen all
Page *pages[PAGES];
size_t taken;

Page *page_of(uintptr_t number) {
  static Page *last;
  if (last && last->number == number) return last;
  size_t at = number * 0x9e3779b97f4a7c15u >> 49;
  for (; pages[at]; at = (at + 1) % PAGES)
    if (pages[at]->number == number) return last = pages[at];
  if (taken >= MOST_PAGES) {
    lost = true;
    return nullptr;
  }
  void *made = __real_calloc(1, sizeof(Page));
  if (!made) {
    lost = true;
    return nullptr;
  }
  ++taken;
  last = pages[at] = static_cast<Page *>(made);
  last->number = number;
  return last;
}

// Whether a variable is a vector that holds this byte: its pointers are begin, end, and end of memory.
bool holds(const Range &one, const char *at) {
  const char *lies[3];
  if (one.bytes != sizeof lies) return false;
  __real_memcpy(lies, one.from, sizeof lies);
  return lies[0] <= lies[1] && lies[1] <= lies[2] && at >= lies[0] && at < lies[2];
}

// Notes that iterations of a loop share this byte.
void share(const Running &loop, int end, const char *at, int64_t sum) {
  Site &site = sites[loop.site];
  for (int one = loop.ranges; one < end; ++one) {
    const Range &range = ranges[one];
    if ((at >= range.from && at < range.from + range.bytes) || (!sum && holds(range, at))) {
      site.names |= int64_t(1) << range.name;
      return;
    }
  }
  const char *here = static_cast<const char *>(__builtin_frame_address(0));
  if (at < here || at >= loop.frame) (sum ? site.sums |= sum : site.memory = 1);
}

// `sum`: the bit of the statement that adds to it.
void touch_byte(const char *at, bool write, int64_t sum) {
  const uintptr_t address = reinterpret_cast<uintptr_t>(at);
  Page *page = page_of(address / PAGE);
  if (!page) return;
  Cell &cell = page->cells[address % PAGE];
  for (int level = 0; level < depth && level < LEVELS; ++level) {
    const Running &loop = running[level];
    if (!loop.now) continue;
    if (write && loop.variable && at >= loop.variable && at < loop.variable + loop.bytes)
      sites[loop.site].memory = 1;
    const uint32_t wrote = cell.wrote[level], read = cell.read[level];
    const bool again = wrote >= loop.first, several = again && cell.several >> level & 1;
    const bool met = (again && wrote != loop.now) || (!sum && several) ||
                     (write && read >= loop.first && read != loop.now);
    const bool summed = sum && (wrote < loop.first || cell.sums >> level & 1);
    const bool alone = summed && (read < loop.first || read == loop.now);
    if (met) share(loop, level + 1 < depth ? running[level + 1].ranges : listed, at, alone ? sum : 0);
    (write ? cell.wrote : cell.read)[level] = loop.now;
    if (write) {
      cell.sums = (cell.sums & ~(1 << level)) | summed << level;
      cell.several = (cell.several & ~(1 << level)) | (several || (again && wrote != loop.now)) << level;
    }
  }
}

void touch(const void *address, uint64_t bytes, bool write) {
  if (!depth || lost) return;
  const int64_t sum = address == added ? adds : 0;
  if (sum && !write) return;
  accesses += 1 + bytes / 8;
  if (accesses > MOST) lost = true;
  const char *at = static_cast<const char *>(address);
  for (uint64_t byte = 0; byte < bytes; ++byte) touch_byte(at + byte, write, sum);
}

// What was just allocated is nobody's yet.
void *fresh(void *memory, size_t bytes) {
  if (!memory || !depth) return memory;
  const uintptr_t from = reinterpret_cast<uintptr_t>(memory);
  for (size_t byte = 0; byte < bytes && !lost; ++byte)
    if (Page *page = page_of((from + byte) / PAGE)) page->cells[(from + byte) % PAGE] = Cell();
  return memory;
}

}  // namespace

extern "C" {
// Before a loop, with its function's frame.
void regraph_loop(int site, const void *frame) {
  if (depth >= LEVELS) sites[site % SITES].memory = 1;  // nothing is noted of it
  if (depth < 64) {
    running[depth] = {site % SITES, listed, 0, 0, 0, static_cast<const char *>(frame), nullptr, 0};
  } else {
    lost = true;
  }
  ++depth;
}
void regraph_around(int name, const volatile void *at, size_t bytes) {
  if (listed >= RANGES || name >= NAMES) {
    lost = true;
    return;
  }
  ranges[listed++] = {static_cast<const char *>(const_cast<const void *>(at)), bytes, name};
}
void regraph_iteration(const volatile void *variable, size_t bytes) {
  if (depth > 64) return;
  Running &loop = running[depth - 1];
  loop.variable = static_cast<const char *>(const_cast<const void *>(variable));
  loop.bytes = bytes;
  loop.now = ++stamp;
  if (!loop.first) loop.first = stamp;
  Site &site = sites[loop.site];
  if (++loop.iterations > site.iterations) site.iterations = loop.iterations;
}
void regraph_iterated() {
  if (depth && depth <= 64) running[depth - 1].variable = nullptr;
}
// While an element is added to; null behind it.
void regraph_sums(int statement, const void *at) {
  added = at, adds = int64_t(1) << statement;
}
void regraph_left() {
  if (--depth < 64) listed = running[depth].ranges;
}
// What was seen of this call, and -1 at the end where that is not all; the next one begins anew.
void regraph_told(int64_t *to) {
  for (int one = 0; one < SITES; ++one) {
    to[4 * one] = sites[one].iterations;
    to[4 * one + 1] = sites[one].memory;
    to[4 * one + 2] = sites[one].names;
    to[4 * one + 3] = sites[one].sums;
    sites[one] = Site();
  }
  to[4 * SITES] = lost ? -1 : 0;
  depth = listed = 0;
  accesses = 0;
  lost = false;
}
}

#define READ(name, bytes) void __tsan_##name(void *at) { touch(at, bytes, false); }
#define WRITE(name, bytes) void __tsan_##name(void *at) { touch(at, bytes, true); }

extern "C" {
READ(read1, 1) READ(read2, 2) READ(read4, 4) READ(read8, 8) READ(read16, 16) READ(vptr_read, 8)
READ(unaligned_read2, 2) READ(unaligned_read4, 4) READ(unaligned_read8, 8) READ(unaligned_read16, 16)
WRITE(write1, 1) WRITE(write2, 2) WRITE(write4, 4) WRITE(write8, 8) WRITE(write16, 16)
WRITE(unaligned_write2, 2) WRITE(unaligned_write4, 4) WRITE(unaligned_write8, 8)
WRITE(unaligned_write16, 16)
void __tsan_read_range(void *at, uint64_t bytes) { touch(at, bytes, false); }
void __tsan_write_range(void *at, uint64_t bytes) { touch(at, bytes, true); }
void __tsan_vptr_update(void *at, void *) { touch(at, 8, true); }
void __tsan_func_entry(void *) {}
void __tsan_func_exit() {}
void __tsan_init() {}
void *__wrap_memset(void *to, int byte, uint64_t bytes) {
  touch(to, bytes, true);
  return __real_memset(to, byte, bytes);
}
void *__wrap_memcpy(void *to, const void *from, uint64_t bytes) {
  touch(from, bytes, false);
  touch(to, bytes, true);
  return __real_memcpy(to, from, bytes);
}
void *__wrap_memmove(void *to, const void *from, uint64_t bytes) {
  touch(from, bytes, false);
  touch(to, bytes, true);
  return __real_memmove(to, from, bytes);
}
void *__wrap_malloc(size_t bytes) { return fresh(__real_malloc(bytes), bytes); }
void *__wrap_calloc(size_t n, size_t bytes) { return fresh(__real_calloc(n, bytes), n * bytes); }
void *__wrap__Znwm(size_t bytes) { return fresh(__real__Znwm(bytes), bytes); }
void *__wrap__Znam(size_t bytes) { return fresh(__real__Znam(bytes), bytes); }
}
