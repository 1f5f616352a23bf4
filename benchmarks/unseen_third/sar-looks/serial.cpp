// Interferogram of two complex radar images: each window of down x across pixels ("looks") becomes one value, the mean
// of the first image times the conjugate of the second, and the coherence of the two in the window.
#include <cmath>
#include <cstddef>

struct Complex {
    float re, im;
};

class Window {
public:
    void add(const Complex& a, const Complex& b) {
        re_ += a.re * b.re + a.im * b.im;
        im_ += a.im * b.re - a.re * b.im;
        power_a_ += a.re * a.re + a.im * a.im;
        power_b_ += b.re * b.re + b.im * b.im;
    }
    Complex mean(int looks) const { return {re_ / looks, im_ / looks}; }
    float coherence() const {
        const float power = power_a_ * power_b_;
        return power > 0 ? std::sqrt((re_ * re_ + im_ * im_) / power) : 0;
    }

private:
    float re_ = 0, im_ = 0;
    float power_a_ = 0, power_b_ = 0;
};

extern "C" void sar_looks(const Complex* master, const Complex* slave, Complex* interferogram, float* coherence,
                          int rows, int cols, int down, int across) {
    const size_t width = (size_t)cols * across;
    for (int r = 0; r < rows; ++r) {
        for (int c = 0; c < cols; ++c) {
            Window window;
            for (int i = 0; i < down; ++i) {
                const size_t first = ((size_t)r * down + i) * width + (size_t)c * across;
                for (int j = 0; j < across; ++j) window.add(master[first + j], slave[first + j]);
            }
            const size_t at = (size_t)r * cols + c;
            interferogram[at] = window.mean(down * across);
            coherence[at] = window.coherence();
        }
    }
}
