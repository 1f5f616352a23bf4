#include <cstdint>
#include <cstdio>
#include <vector>

void radix_sort(std::vector<std::uint32_t> &keys, std::vector<std::uint32_t> &vals);

int main()
{
    std::vector<std::uint32_t> k(5000), v(5000);
    std::uint32_t s = 7;
    for (unsigned i = 0; i < k.size(); ++i) {
        s ^= s << 13; s ^= s >> 17; s ^= s << 5;
        k[i] = s;
        v[i] = i;
    }
    radix_sort(k, v);
    std::uint64_t sum = 0;
    bool ordered = true;
    for (unsigned i = 0; i < k.size(); ++i) {
        sum += std::uint64_t(v[i]) * i;
        if (i && k[i - 1] > k[i]) ordered = false;
    }
    printf("%d %llu\n", ordered, (unsigned long long)sum);
}
