// count[k] = how many walks of 32 * words steps of +-1 from 0 had k as their largest height. Steps are hashed bits.
extern "C" void walk_peaks(const unsigned* seed, int* count, int paths, int words) {
    for (int k = 0; k <= 32 * words; ++k) count[k] = 0;
    for (int p = 0; p < paths; ++p) {
        int height = 0, peak = 0;
        for (int w = 0; w < words; ++w) {
            unsigned h = seed[p] + 0x9e3779b9u * (w + 1);
            h = (h ^ (h >> 16)) * 0x85ebca6bu;
            h = (h ^ (h >> 13)) * 0xc2b2ae35u;
            h ^= h >> 16;
            for (int b = 0; b < 32; ++b) {
                height += (h >> b & 1) ? 1 : -1;
                if (height > peak) peak = height;
            }
        }
        ++count[peak];
    }
}
