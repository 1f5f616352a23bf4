// Algorithms of the standard library as the loops that they are, for one thread of a device.
//
// Each has its name behind `std_`: a device's own `max` is another with NaN, and of other types.
// What may be done in any order is done in that of libstdc++, for equal rounding.
// Not covered: sorting, searching in sorted ranges, policies, and iterators that are no pointers.

//: max
template <class T>
__host__ __device__ constexpr T std_max(T a, T b) {
    return a < b ? b : a;
}
template <class T, class Less>
__device__ constexpr T std_max(T a, T b, Less less) {
    return less(a, b) ? b : a;
}
template <class T, int N>
__host__ __device__ constexpr T std_max(const T (&all)[N]) {
    T most = all[0];
    for (int i = 1; i < N; ++i) most = std_max(most, all[i]);
    return most;
}

//: min
template <class T>
__host__ __device__ constexpr T std_min(T a, T b) {
    return b < a ? b : a;
}
template <class T, class Less>
__device__ constexpr T std_min(T a, T b, Less less) {
    return less(b, a) ? b : a;
}
template <class T, int N>
__host__ __device__ constexpr T std_min(const T (&all)[N]) {
    T least = all[0];
    for (int i = 1; i < N; ++i) least = std_min(least, all[i]);
    return least;
}

//: accumulate
template <class In, class T>
__device__ T std_accumulate(In first, In last, T sum) {
    for (; first != last; ++first) sum = sum + *first;
    return sum;
}
template <class In, class T, class Op>
__device__ T std_accumulate(In first, In last, T sum, Op op) {
    for (; first != last; ++first) sum = op(sum, *first);
    return sum;
}

//: reduce
template <class In, class T, class Op>
__device__ T std_reduce(In first, In last, T sum, Op op) {
    for (; last - first >= 4; first += 4)
        sum = op(sum, op(op(first[0], first[1]), op(first[2], first[3])));
    for (; first != last; ++first) sum = op(sum, *first);
    return sum;
}
template <class In, class T>
__device__ T std_reduce(In first, In last, T sum) {
    return std_reduce(first, last, sum, [](T a, T b) { return a + b; });
}
template <class T>
__device__ T std_reduce(const T* first, const T* last) {
    return std_reduce(first, last, T());
}

//: inclusive_scan
template <class In, class T>
__device__ void std_inclusive_scan(In first, In last, T* out) {
    if (first == last) return;
    T sum = *first;
    for (*out = sum; ++first != last;) *++out = sum = sum + *first;
}
template <class In, class T, class Op>
__device__ void std_inclusive_scan(In first, In last, T* out, Op op) {
    if (first == last) return;
    T sum = *first;
    for (*out = sum; ++first != last;) *++out = sum = op(sum, *first);
}
template <class In, class T, class Op, class U>
__device__ void std_inclusive_scan(In first, In last, T* out, Op op, U sum) {
    for (; first != last; ++first) *out++ = sum = op(sum, *first);
}

//: transform
template <class In, class Out, class Op>
__device__ void std_transform(In first, In last, Out out, Op op) {
    for (; first != last; ++first) *out++ = op(*first);
}
template <class In, class In2, class Out, class Op>
__device__ void std_transform(In first, In last, In2 second, Out out, Op op) {
    for (; first != last; ++first) *out++ = op(*first, *second++);
}

//: find
template <class In, class T>
__device__ In std_find(In first, In last, const T& value) {
    while (first != last && !(*first == value)) ++first;
    return first;
}

//: fill
template <class Out, class T>
__device__ void std_fill(Out first, Out last, const T& value) {
    for (; first != last; ++first) *first = value;
}

//: copy
template <class In, class Out>
__device__ Out std_copy(In first, In last, Out out) {
    for (; first != last; ++first) *out++ = *first;
    return out;
}

//: swap
template <class T>
__device__ void std_swap(T& a, T& b) {
    T kept = a;
    a = b;
    b = kept;
}
