// How two electrodes move together: Pearson's correlation of their voltages in the window around each sample.
// Samples without a whole window get 0, and so do windows in which a voltage stands still.
#include <cmath>

struct Voltages {
    double left, right;
};

struct Means {
    double left, right;
};

static Means means(const Voltages* window, int width) {
    Means sum = {0, 0};
    for (int k = 0; k < width; ++k) {
        sum.left += window[k].left;
        sum.right += window[k].right;
    }
    return {sum.left / width, sum.right / width};
}

static double correlation(const Voltages* window, int width) {
    const Means mean = means(window, width);
    double both = 0, left = 0, right = 0;
    int k = 0;
    while (k < width) {
        const double l = window[k].left - mean.left;
        const double r = window[k].right - mean.right;
        both += l * r;
        left += l * l;
        right += r * r;
        k++;
    }
    const double spread = std::sqrt(left * right);
    return spread > 1e-9 ? both / spread : 0.0;
}

extern "C" void coupled_channels(const Voltages* samples, double* coupling, int reach, int n) {
    for (int i = 0; i < n; ++i) {
        if (i < reach || i + reach >= n) {
            coupling[i] = 0.0;
        } else {
            coupling[i] = correlation(samples + (i - reach), 2 * reach + 1);
        }
    }
}
