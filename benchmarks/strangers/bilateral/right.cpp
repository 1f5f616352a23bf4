void bilateral(const uchar *src, uchar *dst, int rows, int cols, int radius, float sigma_s, float sigma_r)
{
    const float cs = -0.5f / (sigma_s * sigma_s);
    const float cr = -0.5f / (sigma_r * sigma_r);
    int y, x, dy, dx;

    #pragma omp parallel for private(x, dy, dx)
    for (y = 0; y < rows; y++) {
        for (x = 0; x < cols; x++) {
            const int centre = src[y * cols + x];
            float sum = 0.0f, norm = 0.0f;
            for (dy = -radius; dy <= radius; dy++) {
                const int yy = clampi(y + dy, 0, rows - 1);
                for (dx = -radius; dx <= radius; dx++) {
                    const int xx = clampi(x + dx, 0, cols - 1);
                    const int v = src[yy * cols + xx];
                    const float diff = (float)(v - centre);
                    const float w = expf(cs * (float)(dx * dx + dy * dy) + cr * diff * diff);
                    sum += w * v;
                    norm += w;
                }
            }
            dst[y * cols + x] = (uchar)(sum / norm + 0.5f);
        }
    }
}
