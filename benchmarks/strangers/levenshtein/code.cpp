#include <algorithm>
#include <string>
#include <vector>

namespace text {

// Edit distance with two rows.
int levenshtein(const char* s, int m, const char* t, int n) {
    std::vector<int> prev(n + 1), curr(n + 1);
    for (int j = 0; j <= n; ++j) prev[j] = j;
    for (int i = 1; i <= m; ++i) {
        curr[0] = i;
        for (int j = 1; j <= n; ++j) {
            const int cost = s[i - 1] == t[j - 1] ? 0 : 1;
            curr[j] = std::min({prev[j] + 1, curr[j - 1] + 1, prev[j - 1] + cost});
        }
        std::swap(prev, curr);
    }
    return prev[n];
}

// The distance of one word to each of `count` words of `length` characters.
void distances(const std::vector<char>& word, const std::vector<char>& words, int count, int length,
               std::vector<int>& out) {
    const int m = (int)word.size();
    for (int w = 0; w < count; ++w)
        out[w] = levenshtein(word.data(), m, &words[(size_t)w * length], length);
}

std::size_t closest(const std::vector<int>& distance) {
    return std::min_element(distance.begin(), distance.end()) - distance.begin();
}

}  // namespace text
