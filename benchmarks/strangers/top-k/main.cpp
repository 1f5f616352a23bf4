#include <cstdio>
#include <vector>

struct Hit {
    float score;
    int index;
};

std::vector<Hit> selectTopK(const std::vector<float> &scores, int users, int items, int k);

int main() {
    for (int users : {0, 1, 60}) {
        const int items = 151;
        std::vector<float> s(users * items);
        for (std::size_t i = 0; i < s.size(); ++i) s[i] = i * 7919 % 97 / 9.7f;
        for (int k : {1, 8, 50}) {
            unsigned sum = 0;
            for (const Hit &h : selectTopK(s, users, items, k)) sum = sum * 31 + h.index + unsigned(h.score * 10);
            std::printf("%u\n", sum);
        }
    }
}
