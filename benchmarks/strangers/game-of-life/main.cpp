#include <cstdio>
#include <utility>
#include <vector>

void evolve(const unsigned char *world, unsigned char *next, unsigned width, unsigned height);
void seed(unsigned char *world, unsigned width, unsigned height, unsigned s);

int main() {
    const unsigned w = 73, h = 51;
    std::vector<unsigned char> a(w * h), b(w * h);
    seed(a.data(), w, h, 42);
    for (int g = 0; g < 60; ++g) {
        evolve(a.data(), b.data(), w, h);
        std::swap(a, b);
    }
    unsigned long count = 0, hash = 5381;
    for (unsigned char c : a) count += c, hash = hash * 33 + c;
    std::printf("%lu alive, hash %lu\n", count, hash);
}
