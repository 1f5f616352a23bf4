// first openmp: reduction-clause parallel-for simd
// first cuda: thread-per-element block-reduction cub-primitives
#include <string>
long word_count(const std::string& text) {
    long words = 0;
    for (std::size_t k = 0; k < text.size(); ++k) {
        bool letter = text[k] > ' ';
        bool before = k > 0 && text[k - 1] > ' ';
        if (letter && !before) words++;
    }
    return words;
}
