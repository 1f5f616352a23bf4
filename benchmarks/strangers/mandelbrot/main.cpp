#include <cstdio>
#include <vector>

void mandelbrot(int* out, int width, int height, double x0, double y0, double x1, double y1, int max_iter);

int main()
{
    const int w = 121, h = 77;
    std::vector<int> out(w * h);
    mandelbrot(out.data(), w, h, -2.0, -1.0, 1.0, 1.0, 100);
    long sum = 0;
    for (int i = 0; i < w * h; i++) sum += out[i] * (long)(1 + i % 5);
    printf("%ld\n", sum);
}
