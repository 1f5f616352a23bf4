// std::span for C++17, which the judge compiles.
#if __cplusplus < 202002L
namespace std {
inline constexpr size_t dynamic_extent = size_t(-1);
template <class T, size_t N = dynamic_extent>
class span {
    T* data_;
    size_t size_;
public:
    using element_type = T;
    using value_type = remove_cv_t<T>;
    constexpr span(T* data, size_t size) : data_(data), size_(size) {}
    template <class U, size_t M>
    constexpr span(const span<U, M>& other) : data_(other.data()), size_(other.size()) {}
    constexpr T* data() const { return data_; }
    constexpr size_t size() const { return size_; }
    constexpr bool empty() const { return size_ == 0; }
    constexpr T* begin() const { return data_; }
    constexpr T* end() const { return data_ + size_; }
    constexpr T& operator[](size_t i) const { return data_[i]; }
    constexpr T& front() const { return data_[0]; }
    constexpr T& back() const { return data_[size_ - 1]; }
    constexpr span<T> first(size_t n) const { return {data_, n}; }
    constexpr span<T> last(size_t n) const { return {data_ + size_ - n, n}; }
    constexpr span<T> subspan(size_t at) const { return {data_ + at, size_ - at}; }
    constexpr span<T> subspan(size_t at, size_t n) const { return {data_ + at, n}; }
};
}
#endif
