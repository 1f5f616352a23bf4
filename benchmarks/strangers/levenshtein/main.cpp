#include <cstdio>
#include <vector>

namespace text {
void distances(const std::vector<char>& word, const std::vector<char>& words, int count, int length,
               std::vector<int>& out);
}

int main() {
    const int count = 200, length = 17;
    std::vector<char> word(23), words(count * length);
    unsigned s = 5;
    for (char& c : word) s = s * 1664525u + 1013904223u, c = 'a' + (s >> 20) % 4;
    for (char& c : words) s = s * 1664525u + 1013904223u, c = 'a' + (s >> 20) % 4;
    std::vector<int> out(count);
    text::distances(word, words, count, length, out);
    long sum = 0;
    for (int i = 0; i < count; ++i) sum += (long)out[i] * (i % 9 + 1);
    std::printf("%ld\n", sum);
}
