// count[0] = number of places at which the m letters of the pattern (1 to 16) stand in the text.
extern "C" void pattern_count(const unsigned char* text, const unsigned char* pattern, long long* count, int n, int m) {
    long long found = 0;
    for (int i = 0; i <= n - m; ++i) {
        int j = 0;
        while (j < m && text[i + j] == pattern[j]) ++j;
        found += j == m;
    }
    count[0] = found;
}
