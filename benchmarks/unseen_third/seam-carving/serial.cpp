// Seam carving: makes a grey picture narrower by taking out, one by one, the path of least contrast from top to bottom.
#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <vector>

class Picture {
public:
    Picture(const unsigned char* grey, int h, int w)
        : grey_(grey, grey + (size_t)h * w), cost_((size_t)h * w), seam_(h), h_(h), w_(w), stride_(w) {}

    int width() const { return w_; }
    int at(int y, int x) const { return grey_[(size_t)y * stride_ + x]; }

    // Finds the cheapest seam, takes it out and says what it cost. Of equal ones the one further left is taken.
    int carve() {
        for (int y = 0; y < h_; ++y) {
            for (int x = 0; x < w_; ++x) {
                int best = 0;
                if (y > 0) {
                    best = cost(y - 1, x);
                    if (x > 0) best = std::min(best, cost(y - 1, x - 1));
                    if (x < w_ - 1) best = std::min(best, cost(y - 1, x + 1));
                }
                cost(y, x) = best + contrast(y, x);
            }
        }
        int x = 0;
        for (int k = 1; k < w_; ++k) {
            if (cost(h_ - 1, k) < cost(h_ - 1, x)) x = k;
        }
        const int price = cost(h_ - 1, x);
        for (int y = h_ - 1; y >= 0; --y) {
            seam_[y] = x;
            if (y > 0) x = above(y, x);
        }
        for (int y = 0; y < h_; ++y) {
            unsigned char* row = &grey_[(size_t)y * stride_];
            std::copy(row + seam_[y] + 1, row + w_, row + seam_[y]);
        }
        --w_;
        return price;
    }

private:
    int& cost(int y, int x) { return cost_[(size_t)y * stride_ + x]; }

    int contrast(int y, int x) const {
        const int left = at(y, std::max(x - 1, 0)), right = at(y, std::min(x + 1, w_ - 1));
        const int up = at(std::max(y - 1, 0), x), down = at(std::min(y + 1, h_ - 1), x);
        return std::abs(right - left) + std::abs(down - up);
    }

    int above(int y, int x) {
        int best = std::max(x - 1, 0);
        for (int k = best + 1; k <= std::min(x + 1, w_ - 1); ++k) {
            if (cost(y - 1, k) < cost(y - 1, best)) best = k;
        }
        return best;
    }

    std::vector<unsigned char> grey_;
    std::vector<int> cost_;
    std::vector<int> seam_;
    int h_, w_, stride_;
};

extern "C" void seam_carving(const unsigned char* picture, unsigned char* narrow, long long* total, int h, int w,
                             int seams) {
    Picture p(picture, h, w);
    *total = 0;
    for (int k = 0; k < seams; ++k) *total += p.carve();
    for (int y = 0; y < h; ++y) {
        for (int x = 0; x < p.width(); ++x) narrow[(size_t)y * p.width() + x] = (unsigned char)p.at(y, x);
    }
}
