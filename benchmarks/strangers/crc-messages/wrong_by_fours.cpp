void crc32_batch(const uint8_t* data, uint32_t* crc, std::size_t count, std::size_t len)
{
    #pragma omp parallel for schedule(static)
    for (std::size_t m = 0; m < count; ++m) {
        const uint8_t* p = data + m * len;
        const uint8_t* end = p + len;
        uint32_t c = 0xFFFFFFFFu;
        for (; end - p >= 4;) for (int k = 0; k < 4; k++) c = table[(c ^ *p++) & 0xFF] ^ (c >> 8);
        crc[m] = ~c;
    }
}
