#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <vector>

void crc32_batch(const uint8_t* data, uint32_t* crc, std::size_t count, std::size_t len);

int main()
{
    const std::size_t count = 50, len = 77;
    std::vector<uint8_t> data(count * len);
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = uint8_t(i * 31 + (i >> 3));
    std::vector<uint32_t> crc(count);
    crc32_batch(data.data(), crc.data(), count, len);
    uint64_t sum = 0;
    for (std::size_t i = 0; i < count; ++i) sum = sum * 31 + crc[i];
    std::printf("%" PRIu64 "\n", sum);
}
