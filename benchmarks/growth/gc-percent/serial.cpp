// GC content along a genome: per cent of G and C among the known bases within `reach` of each base; -1 where none
// is known. Bases are 0 A, 1 C, 2 G, 3 T, 4 not known.
enum Base : unsigned char { A, C, G, T, N };

inline bool is_strong(unsigned char base) { return base == C || base == G; }

extern "C" void gc_percent(const unsigned char* genome, int* percent, int reach, int n) {
    for (int i = 0; i < n; ++i) {
        int strong = 0, known = 0;
        for (int j = i - reach; j <= i + reach; ++j) {
            if (j < 0 || j >= n) continue;
            if (genome[j] == N) continue;
            known++;
            if (is_strong(genome[j])) strong++;
        }
        percent[i] = known > 0 ? 100 * strong / known : -1;
    }
}
