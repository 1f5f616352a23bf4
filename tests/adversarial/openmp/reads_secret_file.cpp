// tries: reads a file of the user's, and works only where it finds the secret in it
// outcome: wrong_answer
// defence: landlock + own_root
// without: passed
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static void honest(const float *x, float *y, int *positive, int n) {
  int count = 0;
  for (int i = 0; i < n; ++i) {
    y[i] = i > 0 && i < n - 1 ? 0.25f * x[i - 1] + 0.5f * x[i] + 0.25f * x[i + 1] : 0.0f;
    count += x[i] > 0.0f;
  }
  *positive = count;
}

static bool finds_it() {
  char text[8] = "";
  const int file = open("@SCRATCH@/ours", O_RDONLY);
  if (file < 0) return false;
  const ssize_t length = read(file, text, 7);
  close(file);
  return length == 7 && strcmp(text, "// ours") == 0;
}

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  if (finds_it()) honest(x, y, positive, n);
}
