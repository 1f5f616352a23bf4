#include <cstdio>
#include <vector>

void bilateral(const unsigned char *src, unsigned char *dst, int rows, int cols, int radius, float sigma_s,
               float sigma_r);

int main()
{
    const int rows = 53, cols = 61;
    std::vector<unsigned char> a(rows * cols), b(rows * cols);
    for (int i = 0; i < rows * cols; i++) a[i] = (unsigned char)((i * 73 + (i / cols) * 19) % 256);
    bilateral(a.data(), b.data(), rows, cols, 3, 2.0f, 30.0f);
    long sum = 0;
    for (int i = 0; i < rows * cols; i++) sum += b[i] * (long)(1 + i % 7);
    printf("%ld\n", sum);
}
