#include <cstdio>
#include <vector>

void throw_darts(const unsigned long *seeds, long *hits, long batches, long trials);
double estimate(const long *hits, long batches, long trials);

int main() {
    const long batches = 64, trials = 5000;
    std::vector<unsigned long> seeds(batches);
    std::vector<long> hits(batches);
    for (long b = 0; b < batches; ++b) seeds[b] = 1000003UL * (b + 1);
    throw_darts(seeds.data(), hits.data(), batches, trials);
    std::printf("%.8f %ld %ld\n", estimate(hits.data(), batches, trials), hits[0], hits[batches - 1]);
}
