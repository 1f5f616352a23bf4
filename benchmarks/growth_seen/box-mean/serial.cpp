// out = mean of the pixels at most r rows and columns away, those outside of the image left out.
extern "C" void box_mean(const unsigned char* in, float* out, int rows, int cols, int r) {
    for (int y = 0; y < rows; ++y) {
        for (int x = 0; x < cols; ++x) {
            int sum = 0, count = 0;
            for (int dy = -r; dy <= r; ++dy) {
                for (int dx = -r; dx <= r; ++dx) {
                    if (y + dy >= 0 && y + dy < rows && x + dx >= 0 && x + dx < cols) {
                        sum += in[(y + dy) * cols + x + dx];
                        ++count;
                    }
                }
            }
            out[y * cols + x] = (float)sum / count;
        }
    }
}
