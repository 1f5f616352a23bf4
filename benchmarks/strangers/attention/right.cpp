std::vector<float> attention(const std::vector<float>& q, const std::vector<float>& k,
                             const std::vector<float>& v, int n, int d, bool causal)
{
    std::vector<float> out(n * d, 0.0f);
    const float scale = 1.0f / std::sqrt(static_cast<float>(d));

    #pragma omp parallel
    {
    std::vector<float> score(n);
    #pragma omp for schedule(dynamic, 8)
    for (int i = 0; i < n; ++i) {
        const float* qi = &q[i * d];
        const int last = causal ? i + 1 : n;

        float maxv = -INFINITY;
        for (int j = 0; j < last; ++j) {
            const float* kj = &k[j * d];
            float dot = 0.0f;
            for (int c = 0; c < d; ++c) dot += qi[c] * kj[c];
            score[j] = dot * scale;
            if (score[j] > maxv) maxv = score[j];
        }

        float denom = 0.0f;
        for (int j = 0; j < last; ++j) {
            score[j] = std::exp(score[j] - maxv);
            denom += score[j];
        }

        for (int j = 0; j < last; ++j) {
            const float p = score[j] / denom;
            for (int c = 0; c < d; ++c) out[i * d + c] += p * v[j * d + c];
        }
    }
    }
    return out;
}
