void resize(const std::uint8_t* src, const Extent& in, std::uint8_t* dst, const Extent& out) {
    const float sx = static_cast<float>(in.width) / out.width;
    const float sy = static_cast<float>(in.height) / out.height;
#pragma omp parallel for schedule(static)
    for (int y = 0; y < out.height; ++y) {
        const float fy = std::max(0.0f, (y + 0.5f) * sy - 0.5f);
        const int y0 = std::min(static_cast<int>(fy), in.height - 1), y1 = std::min(y0 + 1, in.height - 1);
        for (int x = 0; x < out.width; ++x) {
            const float fx = std::max(0.0f, (x + 0.5f) * sx - 0.5f);
            const int x0 = std::min(static_cast<int>(fx), in.width - 1), x1 = std::min(x0 + 1, in.width - 1);
            const float tx = fx - x0, ty = fy - y0;
            const std::uint8_t *a = src + (y0 * in.width + x0) * 3, *b = src + (y0 * in.width + x1) * 3;
            const std::uint8_t *c = src + (y1 * in.width + x0) * 3, *d = src + (y1 * in.width + x1) * 3;
            for (int ch = 0; ch < 3; ++ch) {
                const float top = a[ch] + (float(b[ch]) - a[ch]) * tx;
                const float bottom = c[ch] + (float(d[ch]) - c[ch]) * tx;
                dst[(y * out.width + x) * 3 + ch] =
                    static_cast<std::uint8_t>(top + (bottom - top) * ty);
            }
        }
    }
}
