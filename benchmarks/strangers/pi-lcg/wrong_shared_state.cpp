void throw_darts(const unsigned long *seeds, long *hits, long batches, long trials) {
    const uint64_t a = 6364136223846793005ULL, c = 1442695040888963407ULL;
    uint64_t s;
#pragma omp parallel for schedule(static)
    for (long b = 0; b < batches; b++) {
        s = seeds[b] * a + c;
        long inside = 0;
        for (long t = 0; t < trials; t++) {
            s = s * a + c;
            const double x = (double)(s >> 11) * (1.0 / 9007199254740992.0);
            s = s * a + c;
            const double y = (double)(s >> 11) * (1.0 / 9007199254740992.0);
            inside += x * x + y * y <= 1.0;
        }
        hits[b] = inside;
    }
}
