// Nussinov's algorithm: the most base pairs of each piece i..j of an RNA (A, C, G, U are 0 to 3), with at least
// three bases inside a loop. Pieces that end before they begin have 0.
#include <algorithm>
#include <cstddef>

extern "C" void rna_pairs(const unsigned char* bases, int* most, int n) {
    const auto pairs = [](int a, int b) {
        const int low = std::min(a, b), high = std::max(a, b);
        return (low == 0 && high == 3) || (low == 1 && high == 2) || (low == 2 && high == 3);
    };
    const auto at = [&](int i, int j) -> int& { return most[(size_t)i * n + j]; };
    const auto inside = [&](int i, int j) { return i > j ? 0 : at(i, j); };

    std::fill(most, most + (size_t)n * n, 0);
    for (int length = 5; length <= n; ++length) {
        for (int i = 0; i + length <= n; ++i) {
            const int j = i + length - 1;
            int best = std::max(at(i + 1, j), at(i, j - 1));
            if (pairs(bases[i], bases[j])) best = std::max(best, inside(i + 1, j - 1) + 1);
            for (int k = i + 1; k + 1 < j; ++k) best = std::max(best, at(i, k) + at(k + 1, j));
            at(i, j) = best;
        }
    }
}
