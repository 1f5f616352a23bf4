// Calls serial code on each case of the file `inputs`, and says where its arrays lie.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>
#include "signature.h"  // call and ARGUMENTS of the problem, ENTRY, OPTIONS
extern "C" void ENTRY();
extern "C" const char *__asan_default_options() { return OPTIONS; }

int main() {
  std::FILE *file = std::fopen("inputs", "rb");
  for (int64_t number = 0;; ++number) {
    std::vector<void *> given;
    for (int slot = 0; slot < ARGUMENTS; ++slot) {
      int64_t bytes;
      if (std::fread(&bytes, sizeof bytes, 1, file) != 1) return 0;
      void *array = nullptr;
      if (posix_memalign(&array, 64, bytes)) return 1;
      if (bytes && std::fread(array, bytes, 1, file) != 1) return 1;
      std::fprintf(stderr, "case %ld slot %d at %p\n", (long)number, slot, array);
      given.push_back(array);
    }
    call((void *)ENTRY, given.data());
    for (void *array : given) std::free(array);
  }
}
