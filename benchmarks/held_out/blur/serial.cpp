// The mean of each 3 x 3 neighbourhood of an image; its border stays as it is.
extern "C" void blur_entry(const float* image, float* out, int rows, int cols) {
    for (int r = 0; r < rows; ++r) {
        for (int c = 0; c < cols; ++c) {
            if (r == 0 || c == 0 || r == rows - 1 || c == cols - 1) {
                out[r * cols + c] = image[r * cols + c];
                continue;
            }
            float sum = 0.0f;
            for (int dr = -1; dr <= 1; ++dr)
                for (int dc = -1; dc <= 1; ++dc) sum += image[(r + dr) * cols + c + dc];
            out[r * cols + c] = sum / 9.0f;
        }
    }
}
