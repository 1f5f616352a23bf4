void layernorm_softmax(const std::vector<float>& x, const std::vector<float>& gamma,
                       const std::vector<float>& beta, std::vector<float>& y, size_t rows, size_t cols)
{
    #pragma omp parallel for schedule(static)
    for (size_t r = 0; r < rows; r++) {
        const float* in = x.data() + r * cols;
        float* out = y.data() + r * cols;

        float mean = 0.0f;
        for (size_t c = 0; c < cols; c++) mean += in[c];
        mean /= cols;

        float var = 0.0f;
        for (size_t c = 0; c < cols; c++) {
            const float d = in[c] - mean;
            var += d * d;
        }
        const float inv = 1.0f / std::sqrt(var / cols + kEps);

        float biggest = -1e30f;
        for (size_t c = 0; c < cols; c++) {
            out[c] = (in[c] - mean) * inv * gamma[c] + beta[c];
            biggest = std::max(biggest, out[c]);
        }

        float total = 0.0f;
        for (size_t c = 0; c < cols; c++) {
            out[c] = std::exp(out[c] - biggest);
            total += out[c];
        }
        for (size_t c = 0; c < cols; c++) out[c] /= total;
    }
}
