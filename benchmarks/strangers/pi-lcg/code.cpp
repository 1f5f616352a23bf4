#include <cstdint>
#include <cstdio>

// Monte Carlo without a library: each trial begins at its own place of the stream.

typedef struct {
    uint64_t state;
} rng_t;

static inline void rng_seed(rng_t *r, uint64_t seed) {
    r->state = seed * 6364136223846793005ULL + 1442695040888963407ULL;
}

static inline double rng_next(rng_t *r) {
    r->state = r->state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (double)(r->state >> 11) * (1.0 / 9007199254740992.0);
}

/* hits[b]: how many of `trials` darts of batch b lie in the quarter of the circle */
void throw_darts(const unsigned long *seeds, long *hits, long batches, long trials) {
    long b, t;
    for (b = 0; b < batches; b++) {
        rng_t rng;
        long inside = 0;
        rng_seed(&rng, seeds[b]);
        for (t = 0; t < trials; t++) {
            double x = rng_next(&rng);
            double y = rng_next(&rng);
            if (x * x + y * y <= 1.0) inside++;
        }
        hits[b] = inside;
    }
}

double estimate(const long *hits, long batches, long trials) {
    long all = 0;
    for (long b = 0; b < batches; b++) all += hits[b];
    return 4.0 * all / ((double)batches * trials);
}
