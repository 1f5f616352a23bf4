void throw_darts(const unsigned long *seeds, long *hits, long batches, long trials) {
    const uint64_t a = 6364136223846793005ULL, c = 1442695040888963407ULL;
#pragma omp parallel for schedule(static)
    for (long b = 0; b < batches; b++) {
        uint64_t s = seeds[b] * a + c;
        long inside = 0;
        for (long t = 0; t < trials; t++) {
            s = s * a + c;
            const float x = (float)(s >> 43) * (1.0f / 2097152.0f);
            s = s * a + c;
            const float y = (float)(s >> 43) * (1.0f / 2097152.0f);
            inside += x * x + y * y <= 1.0;
        }
        hits[b] = inside;
    }
}
