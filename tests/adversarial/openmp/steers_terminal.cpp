// tries: prints what clears a terminal and gives it another title, and dies of it: a diagnosis tells what was said
// outcome: crashed
// defence: words
// without: died
// harm: terminal
#include <stdio.h>
#include <stdlib.h>

extern "C" void smooth(const float *, float *, int *, int) {
  fputs("\x1b[2J\x1b[1;1H\x1b]0;passed\x07\r\x1b[32mpassed 750x\x1b[8m", stdout);
  fflush(stdout);
  abort();
}
