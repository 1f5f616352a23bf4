// What a function does with a std::vector that it does not make longer, over memory of somebody
// else: it works on the caller's arrays, none is copied.
template <class T>
class View {
    T* data_;
    std::size_t size_;
public:
    using value_type = std::remove_const_t<T>;
    using size_type = std::size_t;
    using reference = T&;
    using const_reference = const T&;
    using iterator = T*;
    using const_iterator = const T*;
    View(T* data, std::size_t size) : data_(data), size_(size) {}
    View(const View& other) = default;
    template <class V, class = decltype(static_cast<T*>(std::declval<V&>().data()))>
    View(V& other) : data_(other.data()), size_(other.size()) {}
    View& operator=(const View& other) = delete;
    T* data() const { return data_; }
    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    T* begin() const { return data_; }
    T* end() const { return data_ + size_; }
    const T* cbegin() const { return data_; }
    const T* cend() const { return data_ + size_; }
    std::reverse_iterator<T*> rbegin() const { return std::reverse_iterator<T*>(end()); }
    std::reverse_iterator<T*> rend() const { return std::reverse_iterator<T*>(begin()); }
    T& operator[](std::size_t i) const { return data_[i]; }
    T& at(std::size_t i) const { return i < size_ ? data_[i] : (std::abort(), data_[0]); }
    T& front() const { return data_[0]; }
    T& back() const { return data_[size_ - 1]; }
    void resize(std::size_t n) const { if (n != size_) std::abort(); }
    void assign(std::size_t n, const T& value) const { resize(n); std::fill_n(data_, n, value); }
};
