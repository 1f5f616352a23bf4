#include <cstdio>
#include <vector>

namespace Hmm {
std::vector<int> decode(const std::vector<double>& start, const std::vector<double>& trans,
                        const std::vector<double>& emit, const std::vector<int>& observed, int states,
                        int symbols);
}

int main() {
    const int states = 12, symbols = 5;
    std::vector<double> start(states), trans(states * states), emit(states * symbols);
    for (int i = 0; i < states; ++i) start[i] = -((i + 3) * 31 % 7) - 0.1 * i;
    for (int i = 0; i < states * states; ++i) trans[i] = -((i * 7919 + 501) % 1009) / 100.9;
    for (int i = 0; i < states * symbols; ++i) emit[i] = -(i * 104729 % 997) / 99.7;
    for (int n : {0, 1, 2, 500}) {
        std::vector<int> seen(n);
        for (int t = 0; t < n; ++t) seen[t] = t * t % symbols;
        unsigned sum = 0;
        for (int s : Hmm::decode(start, trans, emit, seen, states, symbols)) sum = sum * 31 + s;
        std::printf("%u\n", sum);
    }
}
