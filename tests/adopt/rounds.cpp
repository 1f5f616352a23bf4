#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <vector>

namespace geo {
struct Point {
    double x, y;
    double norm() const { return std::sqrt(x * x + y * y); }
};
typedef struct {
    float position, speed;
    int steps;
} Particle;
struct Odd { double a; int b; };
struct Derived : Point { double z, w; };
struct Named { std::vector<int> pages; };
struct Entry { size_t row, column; double value; };

double closest(std::vector<Point> const& points) {
    double best = 1e30;
    for (size_t i = 0; i < points.size(); ++i)
        for (size_t j = i + 1; j < points.size(); ++j) {
            const double dx = points[i].x - points[j].x, dy = points[i].y - points[j].y;
            best = std::min(best, std::sqrt(dx * dx + dy * dy));
        }
    return best;
}
void move(std::vector<Particle>& particles, float dt) {
    for (auto& one : particles) {
        one.position += dt * one.speed;
        one.steps += 1;
    }
}
void middles(const Point* a, const Point* b, Point* out, int n) {
    for (int i = 0; i < n; ++i) out[i] = {0.5 * (a[i].x + b[i].x), 0.5 * (a[i].y + b[i].y)};
}
Point centre(const std::vector<Point>& p) {
    Point c{0, 0};
    for (const Point& one : p) {
        c.x += one.x;
        c.y += one.y;
    }
    return {c.x / p.size(), c.y / p.size()};
}
void inside(std::vector<Point> const& p, std::vector<Point>& kept) {
    for (auto const& one : p)
        if (one.norm() < 1) kept.push_back(one);
}
void spmv(std::vector<Entry> const& A, std::vector<double> const& x, std::vector<double>& y,
          size_t m) {
    for (size_t i = 0; i < m; ++i) y[i] = 0;
    for (size_t k = 0; k < A.size(); ++k) y[A[k].row] += A[k].value * x[A[k].column];
}
int odd(const std::vector<Odd>& x) { return x[0].b; }
double derived(const std::vector<Derived>& x) { return x[0].z; }
int named(const std::vector<Named>& x) { return x[0].pages[0]; }
}  // namespace geo

std::vector<int> above(const std::vector<float>& x, float limit) {
    std::vector<int> found;
    for (size_t i = 0; i < x.size(); ++i)
        if (x[i] > limit) found.push_back(i);
    return found;
}
void dedupe(std::vector<int>& x) {
    std::sort(x.begin(), x.end());
    x.erase(std::unique(x.begin(), x.end()), x.end());
}
void twice(const std::vector<float>& x, std::vector<float>& y) {
    y.resize(2 * x.size());
    for (size_t i = 0; i < x.size(); ++i) {
        y[2 * i] = x[i];
        y[2 * i + 1] = -x[i];
    }
}
void histogram(const std::vector<int>& x, std::vector<int>& bins) {
    bins.assign(16, 0);
    for (int one : x) bins[(unsigned)one % 16]++;
}
void tally(const std::vector<int>& x, std::vector<int>& bins) {
    for (size_t i = 0; i < bins.size(); ++i) bins[i] = 0;
    for (int one : x) bins[one]++;
}
std::vector<bool> odds(const std::vector<int>& x) {
    std::vector<bool> is(x.size());
    for (size_t i = 0; i < x.size(); ++i) is[i] = x[i] % 2 != 0;
    return is;
}
bool contains(std::vector<int> const& x, int target) {
    for (size_t i = 0; i < x.size(); ++i)
        if (x[i] == target) return true;
    return false;
}
void vowels(const char* text, bool* is, int n) {
    for (int i = 0; i < n; ++i) is[i] = text[i] == 'a' || text[i] == 'e';
}
double logs(const double* x, int n) {
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += std::log(x[i]);
    return sum;
}
void scan(const std::vector<float>& x, std::vector<float>& sums) {
    std::partial_sum(x.begin(), x.end(), sums.begin());
}
std::vector<double> solved(const std::vector<double>& A, const std::vector<double>& b, size_t n) {
    std::vector<double> left = A, x = b;
    for (size_t i = 0; i < n; ++i)
        for (size_t j = i + 1; j < n; ++j) {
            const double by = left[j * n + i] / left[i * n + i];
            for (size_t k = i; k < n; ++k) left[j * n + k] -= by * left[i * n + k];
            x[j] -= by * x[i];
        }
    return x;
}
void halved(const std::vector<float>& x, std::vector<float>& out) {
    if (x.size() & (x.size() - 1)) __builtin_trap();
    for (size_t i = 0; i < x.size() / 2; ++i) out[i] = x[2 * i] + x[2 * i + 1];
}

int main() {
    std::vector<geo::Point> p{{0, 0}, {3, 4}, {0.5, 0.25}, {-0.5, 0.5}}, kept, q(4);
    std::printf("%g\n", geo::closest(p));
    std::vector<geo::Particle> particles{{1, 2, 0}, {3, 4, 5}};
    geo::move(particles, 0.5f);
    for (auto& one : particles) std::printf("%g %g %d\n", one.position, one.speed, one.steps);
    geo::middles(p.data(), p.data() + 1, q.data(), 3);
    std::printf("%g %g\n", q[1].x, q[2].y);
    const geo::Point centre = geo::centre(p);
    std::printf("%g %g\n", centre.x, centre.y);
    geo::inside(p, kept);
    for (auto& one : kept) std::printf("%g %g\n", one.x, one.y);
    std::vector<double> y(2);
    geo::spmv({{0, 1, 2.5}, {1, 0, -1}, {0, 0, 4}}, {3, 5}, y, 2);
    std::printf("%g %g\n", y[0], y[1]);
    for (int one : above({1, -2, 3, 0.5f}, 0.75f)) std::printf("%d ", one);
    std::vector<int> numbers{3, 1, 3, 2, 1}, bins(4);
    dedupe(numbers);
    for (int one : numbers) std::printf("%d ", one);
    std::vector<float> pairs;
    twice({1, 2}, pairs);
    for (float one : pairs) std::printf("%g ", one);
    tally({0, 3, 3, 1}, bins);
    for (int one : bins) std::printf("%d ", one);
    histogram({17, 1, 5}, bins);
    for (int one : bins) std::printf("%d ", one);
    for (bool one : odds({1, 2, 3})) std::printf("%d ", one);
    bool is[4];
    vowels("test", is, 4);
    std::printf("%d%d %d%d\n", is[0], is[1], contains({4, 5}, 5), contains({4}, 5));
    std::vector<float> sums(3), halves(2);
    scan({1, 2, 4}, sums);
    halved({1, 2, 4, 8}, halves);
    for (float one : sums) std::printf("%g ", one);
    for (float one : halves) std::printf("%g ", one);
    for (double one : solved({2, 1, 1, 3}, {1, 2}, 2)) std::printf("%g ", one);
    const double x[] = {1, 2, 3};
    std::printf("%.6f\n", logs(x, 3));
}
