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

//: partial_sum
template <class In, class T>
__device__ void std_partial_sum(In first, In last, T* out) {
    if (first == last) return;
    T sum = *first;
    for (*out = sum; ++first != last;) *++out = sum = sum + *first;
}

//: count_if
template <class In, class Op>
__device__ ptrdiff_t std_count_if(In first, In last, Op op) {
    ptrdiff_t found = 0;
    for (; first != last; ++first) found += op(*first) ? 1 : 0;
    return found;
}

//: count
template <class In, class T>
__device__ ptrdiff_t std_count(In first, In last, const T& value) {
    ptrdiff_t found = 0;
    for (; first != last; ++first) found += *first == value ? 1 : 0;
    return found;
}

//: min_element
template <class In>
__device__ In std_min_element(In first, In last) {
    In least = first;
    for (; first != last; ++first) least = *first < *least ? first : least;
    return least;
}

//: max_element
template <class In>
__device__ In std_max_element(In first, In last) {
    In most = first;
    for (; first != last; ++first) most = *most < *first ? first : most;
    return most;
}

//: inner_product
template <class In, class In2, class T>
__device__ T std_inner_product(In first, In last, In2 second, T sum) {
    for (; first != last; ++first, ++second) sum = sum + *first * *second;
    return sum;
}

//: iota
template <class Out, class T>
__device__ void std_iota(Out first, Out last, T value) {
    for (; first != last; ++first) *first = value++;
}

//: fill_n
template <class Out, class N, class T>
__device__ void std_fill_n(Out first, N count, const T& value) {
    for (N at = 0; at < count; ++at) first[at] = value;
}

//: clamp
template <class T>
__host__ __device__ constexpr T std_clamp(T value, T low, T high) {
    return value < low ? low : high < value ? high : value;
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

//: array
template <class T, size_t N>
struct std_array {
    T all[N];
    __host__ __device__ T& operator[](size_t i) { return all[i]; }
    __host__ __device__ const T& operator[](size_t i) const { return all[i]; }
    __host__ __device__ T* data() { return all; }
    __host__ __device__ const T* data() const { return all; }
    __host__ __device__ T* begin() { return all; }
    __host__ __device__ T* end() { return all + N; }
    __host__ __device__ const T* begin() const { return all; }
    __host__ __device__ const T* end() const { return all + N; }
    __host__ __device__ constexpr size_t size() const { return N; }
    __host__ __device__ void fill(const T& value) {
        for (size_t i = 0; i < N; ++i) all[i] = value;
    }
};

//: combine
template <class Word, class T, class Op>
__device__ void combine(T* place, T value, Op op) {  // with values of other threads
    Word* word = reinterpret_cast<Word*>(place);
    Word seen = *reinterpret_cast<volatile Word*>(place);
    for (;;) {
        T old;
        memcpy(&old, &seen, sizeof(T));
        const T made = op(old, value);
        if (made == old) return;
        Word next = 0;
        memcpy(&next, &made, sizeof(T));
        const Word now = atomicCAS(word, seen, next);
        if (now == seen) return;
        seen = now;
    }
}
