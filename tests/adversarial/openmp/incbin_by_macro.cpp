// tries: has an assembler macro spell the directive that embeds a file of ours
// outcome: rejected_source
// defence: source_rules + compiler_sandbox
// without: passed
// alone: source_rules rejected_source, compiler_sandbox compile_failed

static void honest(const float *x, float *y, int *positive, int n) {
  int count = 0;
  for (int i = 0; i < n; ++i) {
    y[i] = i > 0 && i < n - 1 ? 0.25f * x[i - 1] + 0.5f * x[i] + 0.25f * x[i + 1] : 0.0f;
    count += x[i] > 0.0f;
  }
  *positive = count;
}

asm(".macro embed a b\n .\\a\\b \"@SCRATCH@/ours\"\n .endm\n"
    ".pushsection .rodata\n embed inc bin\n .popsection");

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  honest(x, y, positive, n);
}
