"""Algorithms of the standard library as the loops that they are, for one thread of a device.

What may be done in any order is done in that of libstdc++, for equal rounding.
Not covered: sorting, searching in sorted ranges, policies, and iterators that are no pointers.
"""

import re

ALGORITHMS = {
    "accumulate": """\
template <class In, class T>
__device__ T accumulate(In first, In last, T sum) {
    for (; first != last; ++first) sum = sum + *first;
    return sum;
}
template <class In, class T, class Op>
__device__ T accumulate(In first, In last, T sum, Op op) {
    for (; first != last; ++first) sum = op(sum, *first);
    return sum;
}
""",
    "reduce": """\
template <class In, class T, class Op>
__device__ T reduce(In first, In last, T sum, Op op) {
    for (; last - first >= 4; first += 4)
        sum = op(sum, op(op(first[0], first[1]), op(first[2], first[3])));
    for (; first != last; ++first) sum = op(sum, *first);
    return sum;
}
template <class In, class T>
__device__ T reduce(In first, In last, T sum) {
    return reduce(first, last, sum, [](T a, T b) { return a + b; });
}
template <class T>
__device__ T reduce(const T* first, const T* last) {
    return reduce(first, last, T());
}
""",
    "inclusive_scan": """\
template <class In, class T>
__device__ void inclusive_scan(In first, In last, T* out) {
    if (first == last) return;
    T sum = *first;
    for (*out = sum; ++first != last;) *++out = sum = sum + *first;
}
template <class In, class T, class Op>
__device__ void inclusive_scan(In first, In last, T* out, Op op) {
    if (first == last) return;
    T sum = *first;
    for (*out = sum; ++first != last;) *++out = sum = op(sum, *first);
}
template <class In, class T, class Op, class U>
__device__ void inclusive_scan(In first, In last, T* out, Op op, U sum) {
    for (; first != last; ++first) *out++ = sum = op(sum, *first);
}
""",
    "transform": """\
template <class In, class Out, class Op>
__device__ void transform(In first, In last, Out out, Op op) {
    for (; first != last; ++first) *out++ = op(*first);
}
template <class In, class In2, class Out, class Op>
__device__ void transform(In first, In last, In2 second, Out out, Op op) {
    for (; first != last; ++first) *out++ = op(*first, *second++);
}
""",
    "find": """\
template <class In, class T>
__device__ In find(In first, In last, const T& value) {
    while (first != last && !(*first == value)) ++first;
    return first;
}
""",
    "fill": """\
template <class Out, class T>
__device__ void fill(Out first, Out last, const T& value) {
    for (; first != last; ++first) *first = value;
}
""",
    "copy": """\
template <class In, class Out>
__device__ Out copy(In first, In last, Out out) {
    for (; first != last; ++first) *out++ = *first;
    return out;
}
""",
    "swap": """\
template <class T>
__device__ void swap(T& a, T& b) {
    T kept = a;
    a = b;
    b = kept;
}
""",
}


def with_algorithms(code: str, used: set[str]) -> str:
    """The code below those of the algorithms that it uses."""
    texts = [ALGORITHMS[name] for name in sorted(used)]
    return "\n".join((*texts, code))


def is_defined(code: str, name: str) -> bool:
    """Whether the code has a function of that name already."""
    return bool(re.search(rf"\b(?<!std::){name}\s*\([^;{{}}()]*\)\s*\{{", code))
