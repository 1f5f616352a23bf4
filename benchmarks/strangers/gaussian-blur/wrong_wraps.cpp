vector<float> gaussianBlur(const vector<float>& img, int width, int height, float sigma) {
    const vector<float> kernel = makeKernel(sigma);
    const int r = (int)kernel.size() / 2;
    vector<float> rows(img.size()), out(img.size());
#pragma omp parallel
    {
#pragma omp for schedule(static)
        for (int y = 0; y < height; ++y)
            for (int x = 0; x < width; ++x) {
                float acc = 0.f;
                for (int t = -r; t <= r; ++t)
                    acc += kernel[t + r] * img[y * width + (x + t + r * width) % width];
                rows[y * width + x] = acc;
            }
#pragma omp for schedule(static)
        for (int y = 0; y < height; ++y) {
            float* row = out.data() + y * width;
            for (int t = -r; t <= r; ++t) {
                const float* from = rows.data() + std::clamp(y + t, 0, height - 1) * width;
                for (int x = 0; x < width; ++x) row[x] += kernel[t + r] * from[x];
            }
        }
    }
    return out;
}
