// tries: patches clock_gettime as patches_clock.cpp does, and time runs at a thousandth of its speed: the
//   claimed time does not suffice for moving the bytes. Two layers: the judge's clock, and the floor
// outcome: passed
// defence: judge_clock + floor
// without: passed
// alone: judge_clock passed, floor suspicious
// harm: fast
// problem: stream
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <stdint.h>
#include <linux/futex.h>
static long spinning(long number, volatile uint32_t *word, long how, uint32_t value, void *a, void *b, long d) {
  if (number == SYS_futex && how == FUTEX_WAIT) {
    while (*word == value) __builtin_ia32_pause();
    return 0;
  }
  return syscall(number, word, how, value, a, b, d);
}

static void redirect(ElfW(Addr) slot) {
  const ElfW(Addr) page = slot & ~ElfW(Addr)(4095);
  mprotect(reinterpret_cast<void *>(page), 4096, PROT_READ | PROT_WRITE);
  *reinterpret_cast<void **>(slot) = reinterpret_cast<void *>(spinning);
}

static int patch(dl_phdr_info *object, size_t, void *) {
  if (!strstr(object->dlpi_name, ".so") || strstr(object->dlpi_name, "vdso")) return 0;
  const ElfW(Addr) base = object->dlpi_addr;
  const ElfW(Dyn) *entry = nullptr;
  for (int i = 0; i < object->dlpi_phnum; ++i)
    if (object->dlpi_phdr[i].p_type == PT_DYNAMIC)
      entry = reinterpret_cast<const ElfW(Dyn) *>(base + object->dlpi_phdr[i].p_vaddr);
  ElfW(Addr) tables[2] = {}, sizes[2] = {}, symbols = 0, names = 0;
  for (; entry && entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_JMPREL) tables[0] = entry->d_un.d_ptr;
    if (entry->d_tag == DT_PLTRELSZ) sizes[0] = entry->d_un.d_val;
    if (entry->d_tag == DT_RELA) tables[1] = entry->d_un.d_ptr;
    if (entry->d_tag == DT_RELASZ) sizes[1] = entry->d_un.d_val;
    if (entry->d_tag == DT_SYMTAB) symbols = entry->d_un.d_ptr;
    if (entry->d_tag == DT_STRTAB) names = entry->d_un.d_ptr;
  }
  for (int t = 0; t < 2; ++t)
    for (ElfW(Addr) at = 0; at < sizes[t]; at += sizeof(ElfW(Rela))) {
      const ElfW(Rela) &rela = *reinterpret_cast<const ElfW(Rela) *>(tables[t] + at);
      const ElfW(Sym) &symbol = reinterpret_cast<const ElfW(Sym) *>(symbols)[rela.r_info >> 32];
      const char *name = reinterpret_cast<const char *>(names) + symbol.st_name;
      if (!strcmp(name, "syscall")) redirect(base + rela.r_offset);
    }
  return 0;
}


extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  static const int patched = dl_iterate_phdr(patch, nullptr); (void)patched;
  int count = 0;
  for (int i = 0; i < n; ++i) {
    y[i] = i > 0 && i < n - 1 ? 0.25f * x[i - 1] + 0.5f * x[i] + 0.25f * x[i + 1] : 0.0f;
    count += x[i] > 0.0f;
  }
  *positive = count;
}
