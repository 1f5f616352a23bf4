void distances(const std::vector<char>& word, const std::vector<char>& words, int count, int length,
               std::vector<int>& out) {
    const int m = (int)word.size();
    const char* s = word.data();
#pragma omp parallel
    {
        std::vector<int> row(length + 1);
#pragma omp for schedule(static)
        for (int w = 0; w < count; ++w) {
            const char* t = words.data() + (size_t)w * length;
            for (int j = 0; j <= length; ++j) row[j] = j;
            for (int i = 1; i <= m; ++i) {
                int diagonal = row[0];
                row[0] = i;
                for (int j = 1; j <= length; ++j) {
                    const int above = row[j];
                    const int change = diagonal + (s[i - 1] == t[j - 1] ? 0 : 1);
                    row[j] = std::min(std::min(above + 1, row[j - 1] + 1), change);
                    diagonal = above;
                }
            }
            out[w] = row[length];
        }
    }
}
