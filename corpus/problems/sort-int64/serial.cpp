#include <algorithm>

// out = in[0..n-1] in ascending order.
extern "C" void sort_int64(const long long* in, long long* out, int n) {
    std::copy(in, in + n, out);
    std::sort(out, out + n);
}
