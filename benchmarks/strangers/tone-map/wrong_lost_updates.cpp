void tonemap(const std::vector<RGB>& hdr, std::vector<std::uint8_t>& ldr, float key) {
    const long n = static_cast<long>(hdr.size());
    double logSum = 0.0;
#pragma omp parallel for schedule(static)
    for (long i = 0; i < n; ++i) logSum += std::log(1e-4f + std::fabs(luminance(hdr[i])));
    const float scale = n == 0 ? 1.0f : key / std::exp(static_cast<float>(logSum / n));
    ldr.resize(n * 3);
#pragma omp parallel for schedule(static)
    for (long i = 0; i < n; ++i) {
        const float ratio = scale / (1.0f + std::fabs(scale * luminance(hdr[i])));
        ldr[3 * i] = encode(hdr[i].r * ratio);
        ldr[3 * i + 1] = encode(hdr[i].g * ratio);
        ldr[3 * i + 2] = encode(hdr[i].b * ratio);
    }
}
