#include <cstdint>
#include <cstring>
#include <vector>

static const unsigned RADIX = 256;

// One stable pass of an LSD radix sort: orders keys (and their values) by the byte at shift.
void radix_pass(const std::uint32_t *keys_in, const std::uint32_t *vals_in, std::uint32_t *keys_out,
                std::uint32_t *vals_out, unsigned n, unsigned shift)
{
    unsigned count[RADIX];
    std::memset(count, 0, sizeof(count));
    for (unsigned i = 0; i < n; ++i)
        ++count[(keys_in[i] >> shift) & (RADIX - 1)];

    unsigned offset = 0;
    for (unsigned b = 0; b < RADIX; ++b) {
        unsigned c = count[b];
        count[b] = offset;
        offset += c;
    }

    for (unsigned i = 0; i < n; ++i) {
        const unsigned dst = count[(keys_in[i] >> shift) & (RADIX - 1)]++;
        keys_out[dst] = keys_in[i];
        vals_out[dst] = vals_in[i];
    }
}

void radix_sort(std::vector<std::uint32_t> &keys, std::vector<std::uint32_t> &vals)
{
    std::vector<std::uint32_t> k2(keys.size()), v2(vals.size());
    for (unsigned shift = 0; shift < 32; shift += 8) {
        radix_pass(keys.data(), vals.data(), k2.data(), v2.data(), (unsigned)keys.size(), shift);
        keys.swap(k2);
        vals.swap(v2);
    }
}
