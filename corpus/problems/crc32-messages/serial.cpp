// crc[k] = CRC-32 of message k of `length` bytes: reflected, polynomial 0xEDB88320, inverted at both ends.
extern "C" void crc32_messages(const unsigned char* message, unsigned* crc, int count, int length) {
    unsigned table[256];
    for (unsigned b = 0; b < 256; ++b) {
        unsigned c = b;
        for (int k = 0; k < 8; ++k) c = c & 1 ? c >> 1 ^ 0xEDB88320u : c >> 1;
        table[b] = c;
    }
    for (int k = 0; k < count; ++k) {
        const unsigned char* m = message + (long)k * length;
        unsigned c = ~0u;
        for (int i = 0; i < length; ++i) {
            c = c >> 8 ^ table[(c ^ m[i]) & 255];
        }
        crc[k] = ~c;
    }
}
