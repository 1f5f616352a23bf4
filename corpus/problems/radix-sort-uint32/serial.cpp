#include <vector>

// Places the elements of from in to by the byte at `shift`; equal bytes keep their order.
static void pass(const unsigned* from, unsigned* to, int n, int shift) {
    int start[257] = {};
    for (int i = 0; i < n; ++i) {
        ++start[(from[i] >> shift & 255) + 1];
    }
    for (int d = 0; d < 256; ++d) {
        start[d + 1] += start[d];
    }
    for (int i = 0; i < n; ++i) {
        to[start[from[i] >> shift & 255]++] = from[i];
    }
}

// out = in[0..n-1] in ascending order.
extern "C" void radix_sort_uint32(const unsigned* in, unsigned* out, int n) {
    std::vector<unsigned> spare(n);
    pass(in, spare.data(), n, 0);
    pass(spare.data(), out, n, 8);
    pass(out, spare.data(), n, 16);
    pass(spare.data(), out, n, 24);
}
