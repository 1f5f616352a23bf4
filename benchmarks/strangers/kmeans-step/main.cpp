#include <cstdio>
#include <vector>

int kmeansStep(const std::vector<float> &points, std::vector<float> &centroids,
               std::vector<int> &labels, int n, int k, int dim);

int main() {
    const int n = 3000, k = 7, dim = 3;
    std::vector<float> points(n * dim), centroids(k * dim);
    std::vector<int> labels(n, -1);
    unsigned s = 1;
    for (float &p : points) s = s * 1664525u + 1013904223u, p = (s >> 8) / 16777216.0f;
    for (int i = 0; i < k * dim; ++i) centroids[i] = points[i];
    int steps = 0;
    while (steps < 8 && kmeansStep(points, centroids, labels, n, k, dim) > 0) ++steps;
    double sum = 0;
    for (int i = 0; i < k * dim; ++i) sum += (i + 1) * centroids[i];
    long all = 0;
    for (int i = 0; i < n; ++i) all += (long)labels[i] * (i % 5);
    std::printf("%d steps, %.4f, %ld\n", steps, sum, all);
}
