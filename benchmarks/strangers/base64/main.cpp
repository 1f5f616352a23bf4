#include <stddef.h>

#include <cstdio>
#include <vector>

size_t base64_encode(const unsigned char *src, size_t len, char *dst);

int main() {
    for (size_t n : {0, 1, 2, 3, 4, 1000, 3001}) {
        std::vector<unsigned char> bytes(n);
        for (size_t i = 0; i < n; ++i) bytes[i] = (i * 7919 + 13) % 251;
        std::vector<char> text(4 * ((n + 2) / 3) + 1);
        const size_t written = base64_encode(bytes.data(), n, text.data());
        unsigned sum = 0;
        for (size_t i = 0; i < text.size(); ++i) sum = sum * 31 + (unsigned char)text[i];
        std::printf("%zu %u\n", written, sum);
    }
}
