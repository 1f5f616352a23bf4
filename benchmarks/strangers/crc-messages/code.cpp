#include <array>
#include <cstdint>
#include <cstddef>

namespace {

std::array<uint32_t, 256> make_table()
{
    std::array<uint32_t, 256> t{};
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t c = i;
        for (int k = 0; k < 8; k++) c = (c & 1) ? 0xEDB88320u ^ (c >> 1) : c >> 1;
        t[i] = c;
    }
    return t;
}

const std::array<uint32_t, 256> table = make_table();

}  // namespace

// CRC-32 of count messages of len bytes each, one after another in data
void crc32_batch(const uint8_t* data, uint32_t* crc, std::size_t count, std::size_t len)
{
    for (std::size_t m = 0; m < count; ++m) {
        const uint8_t* p = data + m * len;
        const uint8_t* end = p + len;
        uint32_t c = 0xFFFFFFFFu;
        while (p != end) c = table[(c ^ *p++) & 0xFF] ^ (c >> 8);
        crc[m] = ~c;
    }
}

uint32_t adler32(const uint8_t* data, std::size_t len)
{
    uint32_t a = 1, b = 0;
    for (std::size_t i = 0; i < len; ++i) {
        a = (a + data[i]) % 65521;
        b = (b + a) % 65521;
    }
    return (b << 16) | a;
}
