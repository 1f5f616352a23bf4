#include <omp.h>
#include <vector>
void radix_pass(const std::uint32_t *keys_in, const std::uint32_t *vals_in, std::uint32_t *keys_out,
                std::uint32_t *vals_out, unsigned n, unsigned shift)
{
    const int most = omp_get_max_threads();
    std::vector<unsigned> counts(size_t(most) * RADIX, 0);
    #pragma omp parallel num_threads(most)
    {
        const unsigned threads = omp_get_num_threads(), me = omp_get_thread_num();
        const unsigned first = size_t(n) * me / threads, last = size_t(n) * (me + 1) / threads;
        unsigned *count = &counts[size_t(me) * RADIX];
        for (unsigned i = first; i < last; ++i) ++count[(keys_in[i] >> shift) & (RADIX - 1)];
        #pragma omp single
        {
            unsigned offset = 0;
            for (unsigned b = 0; b < RADIX; ++b)
                for (int t = 0; t < most; ++t) {
                    const unsigned c = counts[size_t(t) * RADIX + b];
                    counts[size_t(t) * RADIX + b] = offset;
                    offset += c;
                }
        }
        for (unsigned i = first; i < last; ++i) {
            const unsigned dst = count[(keys_in[i] >> shift) & (RADIX - 1)]++;
            keys_out[dst] = keys_in[i];
            vals_out[dst] = vals_in[i];
        }
    }
}
