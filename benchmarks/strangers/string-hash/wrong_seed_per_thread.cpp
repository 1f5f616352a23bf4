std::vector<std::uint32_t> hashStrings(const std::vector<char>& chars, const std::vector<int>& offsets,
                                       std::uint32_t seed) {
    const long n = offsets.empty() ? 0 : static_cast<long>(offsets.size()) - 1;
    std::vector<std::uint32_t> hashes(n);
#pragma omp parallel for schedule(dynamic, 256)
    for (long i = 0; i < n; ++i) {
        const char* data = chars.data() + offsets[i];
        const int len = offsets[i + 1] - offsets[i], rest = len & 3;
        std::uint32_t h = seed + (i & 1), k = 0;
        for (int b = 0; b + 4 <= len; b += 4) {
            std::memcpy(&k, data + b, sizeof k);
            k *= 0xcc9e2d51;
            k = ROTL32(k, 15) * 0x1b873593;
            h ^= k;
            h = ROTL32(h, 13) * 5 + 0xe6546b64;
        }
        k = 0;
        for (int b = 0; b < rest; ++b) k |= static_cast<std::uint32_t>(static_cast<unsigned char>(data[len - rest + b])) << 8 * b;
        k *= 0xcc9e2d51;
        h ^= ROTL32(k, 15) * 0x1b873593;
        hashes[i] = fmix32(h ^ static_cast<std::uint32_t>(len));
    }
    return hashes;
}
