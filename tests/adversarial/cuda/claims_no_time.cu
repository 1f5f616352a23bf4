// tries: patches clock_gettime, and time runs at a thousandth of its speed: the claimed time does not
//   suffice for moving the bytes. Two layers: the judge's clock, and the floor
// outcome: suspicious | passed | crashed
// defence: judge_clock + sealed + floor
// without: passed
// harm: fast
// alone: floor suspicious
// problem: stream
#include <cuda_runtime.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

__global__ void kernel(const float *x, float *y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2.0f * x[i];
}

static int slow_clock(clockid_t id, timespec *t) {
  static long start = 0;
  syscall(SYS_clock_gettime, id, t);
  const long now = t->tv_sec * 1000000000L + t->tv_nsec;
  if (!start) start = now;
  const long shown = start + (now - start) / 1000;
  t->tv_sec = shown / 1000000000L;
  t->tv_nsec = shown % 1000000000L;
  return 0;
}


static void redirect(ElfW(Addr) slot) {
  const ElfW(Addr) page = slot & ~ElfW(Addr)(4095);
  mprotect(reinterpret_cast<void *>(page), 4096, PROT_READ | PROT_WRITE);
  *reinterpret_cast<void **>(slot) = reinterpret_cast<void *>(slow_clock);
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
      if (!strcmp(name, "clock_gettime")) redirect(base + rela.r_offset);
    }
  return 0;
}


extern "C" void stream(const float *x, float *y, int n) {
  static const int patched = dl_iterate_phdr(patch, nullptr);
  static float *dx = nullptr, *dy = nullptr;
  (void)patched;
  if (!dx) cudaMalloc(&dx, 200000 * sizeof(float));
  if (!dy) cudaMalloc(&dy, 200000 * sizeof(float));
  cudaMemcpy(dx, x, n * sizeof(float), cudaMemcpyHostToDevice);
  kernel<<<(n + 255) / 256, 256>>>(dx, dy, n);
  cudaMemcpy(y, dy, n * sizeof(float), cudaMemcpyDeviceToHost);
}
