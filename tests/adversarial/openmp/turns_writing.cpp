// tries: the same without any escape: one-byte forms of it, disguised by bytes that are no UTF-8, and signs that turn
//   the direction of writing
// outcome: crashed
// defence: words
// without: died
// harm: terminal
#include <string.h>
#include <unistd.h>

extern "C" void smooth(const float *, float *, int *, int) {
  const char *pieces[] = {"\xc2", "\x9b" "2J", "\xff\xc2\x9d" "0;passed\xc2\x9c", "\xe2\x80", "\xae" "dessap\xe2\x81\xa6"};
  for (const char *piece : pieces)
    if (write(2, piece, strlen(piece)) < 0) break;
  __builtin_trap();
}
