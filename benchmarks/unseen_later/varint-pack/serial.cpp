// A column of integers as a column file stores it: differences, zigzag, then seven bits to a byte (LEB128, lowest
// first; the top bit says that more follow).
#include <cstdint>

static uint32_t zigzag(uint32_t difference) { return (difference << 1) ^ (0u - (difference >> 31)); }

static uint8_t* put(uint8_t* out, uint32_t value) {
    while (value >= 0x80) {
        *out++ = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    *out++ = (uint8_t)value;
    return out;
}

extern "C" void varint_pack(const int* values, uint8_t* packed, int* bytes, int n) {
    uint8_t* out = packed;
    uint32_t last = 0;
    for (int i = 0; i < n; ++i) {
        out = put(out, zigzag((uint32_t)values[i] - last));
        last = (uint32_t)values[i];
    }
    *bytes = (int)(out - packed);
}
