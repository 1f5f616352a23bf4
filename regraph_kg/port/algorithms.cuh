// Algorithms of the standard library as the loops that they are, for one thread of a device.
//
// Each has its name behind `std_`: a device's own `max` is another with NaN, and of other types.
// What may be done in any order is done in that of libstdc++, for equal rounding. Names with `_by_cub`
// are for the host, over the device's memory.
// Not covered: searching in sorted ranges, policies, and iterators that are no pointers.

//: max
template <class T>
__host__ __device__ constexpr T std_max(T a, T b) {
    return a < b ? b : a;
}

//: max_any
template <class T, class Less>
__host__ __device__ constexpr T std_max(T a, T b, Less less) {
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

//: min_any
template <class T, class Less>
__host__ __device__ constexpr T std_min(T a, T b, Less less) {
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
__host__ __device__ T std_accumulate(In first, In last, T sum) {
    for (; first != last; ++first) sum = sum + *first;
    return sum;
}
template <class In, class T, class Op>
__host__ __device__ T std_accumulate(In first, In last, T sum, Op op) {
    for (; first != last; ++first) sum = op(sum, *first);
    return sum;
}

//: reduce
template <class In, class T, class Op>
__host__ __device__ T std_reduce(In first, In last, T sum, Op op) {
    for (; last - first >= 4; first += 4)
        sum = op(sum, op(op(first[0], first[1]), op(first[2], first[3])));
    for (; first != last; ++first) sum = op(sum, *first);
    return sum;
}
template <class In, class T>
__host__ __device__ T std_reduce(In first, In last, T sum) {
    return std_reduce(first, last, sum, [](T a, T b) { return a + b; });
}
template <class T>
__host__ __device__ T std_reduce(const T* first, const T* last) {
    return std_reduce(first, last, T());
}

//: inclusive_scan
template <class In, class T>
__host__ __device__ void std_inclusive_scan(In first, In last, T* out) {
    if (first == last) return;
    T sum = *first;
    for (*out = sum; ++first != last;) *++out = sum = sum + *first;
}
template <class In, class T, class Op>
__host__ __device__ void std_inclusive_scan(In first, In last, T* out, Op op) {
    if (first == last) return;
    T sum = *first;
    for (*out = sum; ++first != last;) *++out = sum = op(sum, *first);
}
template <class In, class T, class Op, class U>
__host__ __device__ void std_inclusive_scan(In first, In last, T* out, Op op, U sum) {
    for (; first != last; ++first) *out++ = sum = op(sum, *first);
}

//: exclusive_scan
template <class In, class T, class U>
__host__ __device__ void std_exclusive_scan(In first, In last, T* out, U sum) {
    for (; first != last; ++first) {
        const U next = sum + *first;
        *out++ = sum;
        sum = next;
    }
}

//: partial_sum
template <class In, class T>
__host__ __device__ void std_partial_sum(In first, In last, T* out) {
    if (first == last) return;
    T sum = *first;
    for (*out = sum; ++first != last;) *++out = sum = sum + *first;
}

//: count_if
template <class In, class Op>
__host__ __device__ ptrdiff_t std_count_if(In first, In last, Op op) {
    ptrdiff_t found = 0;
    for (; first != last; ++first) found += op(*first) ? 1 : 0;
    return found;
}

//: count
template <class In, class T>
__host__ __device__ ptrdiff_t std_count(In first, In last, const T& value) {
    ptrdiff_t found = 0;
    for (; first != last; ++first) found += *first == value ? 1 : 0;
    return found;
}

//: min_element
template <class In>
__host__ __device__ In std_min_element(In first, In last) {
    In least = first;
    for (; first != last; ++first) least = *first < *least ? first : least;
    return least;
}

//: max_element
template <class In>
__host__ __device__ In std_max_element(In first, In last) {
    In most = first;
    for (; first != last; ++first) most = *most < *first ? first : most;
    return most;
}

//: inner_product
template <class In, class In2, class T>
__host__ __device__ T std_inner_product(In first, In last, In2 second, T sum) {
    for (; first != last; ++first, ++second) sum = sum + *first * *second;
    return sum;
}

//: iota
template <class Out, class T>
__host__ __device__ void std_iota(Out first, Out last, T value) {
    for (; first != last; ++first) *first = value++;
}

//: fill_n
template <class Out, class N, class T>
__host__ __device__ void std_fill_n(Out first, N count, const T& value) {
    for (N at = 0; at < count; ++at) first[at] = value;
}

//: clamp
template <class T>
__host__ __device__ constexpr T std_clamp(T value, T low, T high) {
    return value < low ? low : high < value ? high : value;
}

//: transform
template <class In, class Out, class Op>
__host__ __device__ void std_transform(In first, In last, Out out, Op op) {
    for (; first != last; ++first) *out++ = op(*first);
}
template <class In, class In2, class Out, class Op>
__host__ __device__ void std_transform(In first, In last, In2 second, Out out, Op op) {
    for (; first != last; ++first) *out++ = op(*first, *second++);
}

//: find
template <class In, class T>
__host__ __device__ In std_find(In first, In last, const T& value) {
    while (first != last && !(*first == value)) ++first;
    return first;
}

//: fill
template <class Out, class T>
__host__ __device__ void std_fill(Out first, Out last, const T& value) {
    for (; first != last; ++first) *first = value;
}

//: copy
template <class In, class Out>
__host__ __device__ Out std_copy(In first, In last, Out out) {
    for (; first != last; ++first) *out++ = *first;
    return out;
}

//: next
template <class In>
__host__ __device__ In std_next(In at, ptrdiff_t steps = 1) {
    return at + steps;
}

//: swap
template <class T>
__host__ __device__ void std_swap(T& a, T& b) {
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

//: added_to
template <class T, class V>
__host__ __device__ void std_added_to(T& place, V value) {  // as other threads add to it
#ifdef __CUDA_ARCH__
    if constexpr (!__is_class(T)) {
        if (!__isLocal(&place)) {
            using Word = unsigned long long;
            if constexpr (sizeof(T) == 8 && T(1) / 2 == 0) {
                atomicAdd(reinterpret_cast<Word*>(&place), static_cast<Word>(T(value)));
            } else {
                atomicAdd(&place, T(value));
            }
            return;
        }
    }
#endif
    place += value;
}

//: taken_from
template <class T, class V>
__host__ __device__ void std_taken_from(T& place, V value) {  // as other threads do
#ifdef __CUDA_ARCH__
    if constexpr (!__is_class(T)) {
        if (!__isLocal(&place)) {
            using Word = unsigned long long;
            if constexpr (sizeof(T) == 8 && T(1) / 2 == 0) {
                atomicAdd(reinterpret_cast<Word*>(&place), Word(0) - static_cast<Word>(T(value)));
            } else {
                atomicAdd(&place, T(0) - T(value));
            }
            return;
        }
    }
#endif
    place -= value;
}

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

//: less
template <class T = void>
struct std_less {
    template <class A>
    __host__ __device__ bool operator()(const A& a, const A& b) const { return a < b; }
};

//: greater
template <class T = void>
struct std_greater {
    template <class A>
    __host__ __device__ bool operator()(const A& a, const A& b) const { return b < a; }
};

//: stable_sort
template <class T, class Less>
__host__ __device__ void std_stable_sort(T* first, T* last, Less less) {  // for few elements
    for (T* at = first; at < last; ++at) {
        const T kept = *at;
        T* to = at;
        for (; to > first && less(kept, to[-1]); --to) *to = to[-1];
        *to = kept;
    }
}
template <class T>
__host__ __device__ void std_stable_sort(T* first, T* last) {
    std_stable_sort(first, last, [](const T& a, const T& b) { return a < b; });
}

//: sort
template <class T, class Less>
__host__ __device__ void std_sort(T* first, T* last, Less less) {  // for few elements
    for (T* at = first; at < last; ++at) {
        const T kept = *at;
        T* to = at;
        for (; to > first && less(kept, to[-1]); --to) *to = to[-1];
        *to = kept;
    }
}
template <class T>
__host__ __device__ void std_sort(T* first, T* last) {
    std_sort(first, last, [](const T& a, const T& b) { return a < b; });
}

//: sum_by_cub
template <class T>
struct sum_by_cub {
    __host__ __device__ T operator()(T a, T b) const { return a + b; }
};

//: product_by_cub
template <class T>
struct product_by_cub {
    __host__ __device__ T operator()(T a, T b) const { return a * b; }
};

//: greatest_by_cub
template <class T>
struct greatest_by_cub {
    __host__ __device__ T operator()(T a, T b) const { return a < b ? b : a; }
};

//: least_by_cub
template <class T>
struct least_by_cub {
    __host__ __device__ T operator()(T a, T b) const { return b < a ? b : a; }
};

//: any_bits_by_cub
template <class T>
struct any_bits_by_cub {
    __host__ __device__ T operator()(T a, T b) const { return a | b; }
};

//: all_bits_by_cub
template <class T>
struct all_bits_by_cub {
    __host__ __device__ T operator()(T a, T b) const { return a & b; }
};

//: odd_bits_by_cub
template <class T>
struct odd_bits_by_cub {
    __host__ __device__ T operator()(T a, T b) const { return a ^ b; }
};

//: scan_by_cub
// out[i]: what all elements up to the i-th combine to. `out` may be `first`.
template <class T, class Out, class Op>
void scan_by_cub(const T* first, const T* last, Out* out, Op op) {
    void* room = nullptr;
    size_t bytes = 0;
    const long long count = last - first;
    cub::DeviceScan::InclusiveScan(room, bytes, first, out, op, count);
    cudaMalloc(&room, bytes);
    cub::DeviceScan::InclusiveScan(room, bytes, first, out, op, count);
    cudaFree(room);
}

//: partial_sum_by_cub
template <class T, class Out>
void partial_sum_by_cub(const T* first, const T* last, Out* out) {
    if (first != last) scan_by_cub(first, last, out, sum_by_cub<T>());
}

//: inclusive_scan_by_cub
template <class T, class Out>
void inclusive_scan_by_cub(const T* first, const T* last, Out* out) {
    if (first != last) scan_by_cub(first, last, out, sum_by_cub<T>());
}

//: exclusive_scan_by_cub
template <class T, class Out, class U>
void exclusive_scan_by_cub(const T* first, const T* last, Out* out, U before) {
    if (first == last) return;
    void* room = nullptr;
    size_t bytes = 0;
    const long long count = last - first;
    cub::DeviceScan::ExclusiveScan(room, bytes, first, out, sum_by_cub<U>(), before, count);
    cudaMalloc(&room, bytes);
    cub::DeviceScan::ExclusiveScan(room, bytes, first, out, sum_by_cub<U>(), before, count);
    cudaFree(room);
}

//: reduced_by_cub
template <class T, class U, class Op>
U reduced_by_cub(const T* first, const T* last, Op op, U before) {
    void* room = nullptr;
    size_t bytes = 0;
    U *there, all;
    const long long count = last - first;
    cudaMalloc(&there, sizeof(U));
    cub::DeviceReduce::Reduce(room, bytes, first, there, count, op, before);
    cudaMalloc(&room, bytes);
    cub::DeviceReduce::Reduce(room, bytes, first, there, count, op, before);
    cudaMemcpy(&all, there, sizeof(U), cudaMemcpyDeviceToHost);
    cudaFree(room);
    cudaFree(there);
    return all;
}

//: accumulate_by_cub
template <class T, class U>
U accumulate_by_cub(const T* first, const T* last, U before) {
    return first == last ? before : reduced_by_cub(first, last, sum_by_cub<U>(), before);
}

//: place_by_cub
// The first place of a value, or the last one; -1 for none.
template <class T>
__global__ void same_by_cub(const T* all, long long count, T value, bool last, long long* place) {
    const long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count || !(all[at] == value)) return;
    if (last) atomicMax(place, at);
    else atomicMin((unsigned long long*)place, (unsigned long long)at);  // -1 is the greatest there
}
template <class T>
long long place_by_cub(const T* all, long long count, T value, bool last) {
    long long *there, place = -1;
    cudaMalloc(&there, sizeof(place));
    cudaMemcpy(there, &place, sizeof(place), cudaMemcpyHostToDevice);
    same_by_cub<<<(count + 255) / 256, 256>>>(all, count, value, last, there);
    cudaMemcpy(&place, there, sizeof(place), cudaMemcpyDeviceToHost);
    cudaFree(there);
    return place;
}

//: element_by_cub
// A place in the device's memory, whose element the host reads by `*`.
template <class T>
struct element_by_cub {
    const T* at;
    operator const T*() const { return at; }
    T operator*() const {
        T value;
        cudaMemcpy(&value, at, sizeof(T), cudaMemcpyDeviceToHost);
        return value;
    }
};

//: max_element_by_cub
template <class T>
element_by_cub<T> max_element_by_cub(const T* first, const T* last) {
    if (first == last) return {last};
    const T one = *element_by_cub<T>{first};
    const T most = reduced_by_cub(first, last, greatest_by_cub<T>(), one);
    return {first + place_by_cub(first, last - first, most, false)};
}

//: min_element_by_cub
template <class T>
element_by_cub<T> min_element_by_cub(const T* first, const T* last) {
    if (first == last) return {last};
    const T one = *element_by_cub<T>{first};
    const T least = reduced_by_cub(first, last, least_by_cub<T>(), one);
    return {first + place_by_cub(first, last - first, least, false)};
}

//: each_by_cub
template <class Step>
__global__ void each_by_cub(long long count, Step step) {
    const long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at < count) step(at);
}

//: filled_by_cub
template <class T, class U>
struct filled_by_cub {
    T* all;
    U first;
    int step;
    __device__ void operator()(long long at) const { all[at] = T(first + U(step * at)); }
};

//: fill_by_cub
template <class T, class U>
void fill_by_cub(T* first, T* last, U value) {
    const long long count = last - first;
    const filled_by_cub<T, T> step{first, T(value), 0};
    if (count > 0) each_by_cub<<<(count + 255) / 256, 256>>>(count, step);
}

//: iota_by_cub
template <class T, class U>
void iota_by_cub(T* first, T* last, U value) {
    const long long count = last - first;
    const filled_by_cub<T, U> step{first, value, 1};
    if (count > 0) each_by_cub<<<(count + 255) / 256, 256>>>(count, step);
}

//: copy_by_cub
template <class T, class U>
struct copied_by_cub {
    const T* from;
    U* to;
    __device__ void operator()(long long at) const { to[at] = from[at]; }
};
template <class T, class U>
void copy_by_cub(const T* first, const T* last, U* out) {
    const long long count = last - first;
    if (count > 0) each_by_cub<<<(count + 255) / 256, 256>>>(count, copied_by_cub<T, U>{first, out});
}

//: sort_by_cub
// Radix sort takes 0.0 and -0.0 for equal, as `<` does, and keeps the order of equals. NaN has no
// place in any order by `<`, so that a valid input has none.
template <class K, class V>
void pairs_by_cub(const K* keys, V* first, long long count, bool down) {
    K* sorted;
    V* values;
    void* room = nullptr;
    size_t bytes = 0;
    cudaMalloc(&sorted, sizeof(K) * count);
    cudaMalloc(&values, sizeof(V) * count);
    for (int round = 0; round < 2; ++round) {
        if (down)
            cub::DeviceRadixSort::SortPairsDescending(
                room, bytes, keys, sorted, first, values, count);
        else
            cub::DeviceRadixSort::SortPairs(room, bytes, keys, sorted, first, values, count);
        if (round == 0) cudaMalloc(&room, bytes);
    }
    cudaMemcpy(first, values, sizeof(V) * count, cudaMemcpyDeviceToDevice);
    cudaFree(room);
    cudaFree(values);
    cudaFree(sorted);
}
template <class K>
void sort_by_cub(K* first, K* last, bool down = false) {
    K* sorted;
    void* room = nullptr;
    size_t bytes = 0;
    const long long count = last - first;
    if (count < 2) return;
    cudaMalloc(&sorted, sizeof(K) * count);
    for (int round = 0; round < 2; ++round) {
        if (down)
            cub::DeviceRadixSort::SortKeysDescending(room, bytes, first, sorted, count);
        else
            cub::DeviceRadixSort::SortKeys(room, bytes, first, sorted, count);
        if (round == 0) cudaMalloc(&room, bytes);
    }
    cudaMemcpy(first, sorted, sizeof(K) * count, cudaMemcpyDeviceToDevice);
    cudaFree(room);
    cudaFree(sorted);
}
template <class V, class Key, class K>
__global__ void keys_by_cub(const V* first, long long count, Key key, K* keys) {
    const long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at < count) keys[at] = key(first[at]);
}
template <class K, class V, class Key>
void sort_by_cub(V* first, V* last, Key key, bool down) {
    K* keys;
    const long long count = last - first;
    if (count < 2) return;
    cudaMalloc(&keys, sizeof(K) * count);
    keys_by_cub<<<(count + 255) / 256, 256>>>(first, count, key, keys);
    pairs_by_cub(keys, first, count, down);
    cudaFree(keys);
}
