// Communities of a social network: in each round everybody takes the label that most of their friends have (the
// smallest of those), all at the same time. Counts who changed in each round.
#include <algorithm>
#include <cstddef>
#include <vector>

template <class Label>
static Label commonest(std::vector<Label>& labels) {
    std::sort(labels.begin(), labels.end());
    Label best = labels[0];
    size_t most = 0;
    for (size_t begin = 0; begin < labels.size();) {
        size_t end = begin;
        while (end < labels.size() && labels[end] == labels[begin]) ++end;
        if (end - begin > most) {
            most = end - begin;
            best = labels[begin];
        }
        begin = end;
    }
    return best;
}

extern "C" void community_labels(const int* friends, const int* start, int* label, int* changed, int people,
                                 int degree, int rounds) {
    std::vector<int> now(start, start + people), next(people), around;
    for (int round = 0; round < rounds; ++round) {
        changed[round] = 0;
        for (int p = 0; p < people; ++p) {
            around.clear();
            for (int k = 0; k < degree; ++k) around.push_back(now[friends[(size_t)p * degree + k]]);
            next[p] = commonest(around);
            if (next[p] != now[p]) ++changed[round];
        }
        now.swap(next);
    }
    std::copy(now.begin(), now.end(), label);
}
