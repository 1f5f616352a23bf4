double forward(std::span<const float> logits, std::span<const int> labels, std::span<float> grad) {
    const long batch = labels.size();
    if (batch == 0) return 0.0;
    const long classes = logits.size() / batch;
    double loss = 0.0;
#pragma omp parallel for schedule(static) reduction(+ : loss)
    for (long b = 0; b < batch; ++b) {
        const float* row = logits.data() + b * classes;
        float* out = grad.data() + b * classes;
        float top = row[0], total = 0.0f;
        for (long c = 1; c < classes; ++c) top = std::max(top, row[c]);
        for (long c = 0; c < classes; ++c) total += out[c] = std::exp(row[c] - top);
        const float scale = 1.0f / (total * batch);
        for (long c = 0; c < classes; ++c) out[c] *= scale;
        out[labels[b]] -= 1.0f / batch;
        loss -= row[labels[b]] - top - std::log(total);
    }
    return loss / batch;
}
