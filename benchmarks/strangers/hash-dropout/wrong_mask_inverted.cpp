void apply_dropout(std::vector<float>& values, std::vector<std::uint8_t>& mask, float p, std::uint32_t seed) {
    const long n = static_cast<long>(values.size());
    mask.resize(n);
    const float scale = p < 1.0f ? 1.0f / (1.0f - p) : 0.0f;
    const auto threshold = static_cast<std::uint32_t>(p * 4294967040.0f);
#pragma omp parallel for simd schedule(static)
    for (long i = 0; i < n; ++i) {
        const bool keep = hash_at(static_cast<std::uint32_t>(i), seed) >= threshold;
        mask[i] = !keep;
        values[i] = keep ? values[i] * scale : 0.0f;
    }
}
