#include <cstdio>
#include <vector>

std::vector<float> gaussianBlur(const std::vector<float>& img, int width, int height, float sigma);

int main() {
    for (float sigma : {0.5f, 2.0f}) {
        const int w = 57, h = 31;
        std::vector<float> img(w * h);
        for (int i = 0; i < w * h; ++i) img[i] = (i * 7919 % 1009) / 1009.0f;
        const std::vector<float> out = gaussianBlur(img, w, h, sigma);
        double sum = 0;
        for (int i = 0; i < w * h; ++i) sum += out[i] * (i % 13 + 1);
        std::printf("%.3f\n", sum);
    }
}
