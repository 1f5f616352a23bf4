#include <algorithm>
#include <cmath>
#include <vector>

using std::vector;

static vector<float> makeKernel(float sigma) {
    const int radius = std::max(1, (int)std::ceil(3.f * sigma));
    vector<float> kernel;
    float total = 0.f;
    for (int t = -radius; t <= radius; ++t) {
        kernel.push_back(std::exp(-(t * t) / (2.f * sigma * sigma)));
        total += kernel.back();
    }
    for (auto& k : kernel) k /= total;
    return kernel;
}

vector<float> gaussianBlur(const vector<float>& img, int width, int height, float sigma) {
    const vector<float> kernel = makeKernel(sigma);
    const int r = (int)kernel.size() / 2;

    vector<vector<float>> rows(height, vector<float>(width, 0.f));
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) {
            float acc = 0.f;
            for (int t = -r; t <= r; ++t)
                acc += kernel[t + r] * img[y * width + std::clamp(x + t, 0, width - 1)];
            rows[y][x] = acc;
        }

    vector<float> out(img.size());
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) {
            float acc = 0.f;
            for (int t = -r; t <= r; ++t) acc += kernel[t + r] * rows[std::clamp(y + t, 0, height - 1)][x];
            out[y * width + x] = acc;
        }
    return out;
}
