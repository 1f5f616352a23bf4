#include <cstdint>
#include <cstdio>
#include <vector>

std::vector<std::uint32_t> hashStrings(const std::vector<char>& chars, const std::vector<int>& offsets,
                                       std::uint32_t seed);

int main() {
    for (int n : {0, 1, 500}) {
        std::vector<char> chars;
        std::vector<int> offsets{0};
        for (int i = 0; i < n; ++i) {
            for (int k = 0; k < i * 31 % 23; ++k) chars.push_back(char('a' + (i * 7 + k * k) % 26));
            offsets.push_back(chars.size());
        }
        unsigned sum = 0;
        for (auto h : hashStrings(chars, offsets, 42u)) sum = sum * 31 + h;
        std::printf("%u\n", sum);
    }
}
