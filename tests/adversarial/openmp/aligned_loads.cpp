// tries: loads its input with instructions that need it on a multiple of 16 bytes, which nobody has promised
// outcome: crashed
// defence: alignment
// without: passed
extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  int count = 0, i = 0;
  for (; i + 4 <= n; i += 4) {
    float four[4];
    asm volatile("movaps %1, %%xmm0\n\tmovups %%xmm0, %0" : "=m"(four) : "m"(*(const float(*)[4])(x + i)) : "xmm0");
    for (int k = 0; k < 4; ++k) count += four[k] > 0.0f;
  }
  for (; i < n; ++i) count += x[i] > 0.0f;
  for (i = 0; i < n; ++i) y[i] = i > 0 && i < n - 1 ? 0.25f * x[i - 1] + 0.5f * x[i] + 0.25f * x[i + 1] : 0.0f;
  *positive = count;
}
