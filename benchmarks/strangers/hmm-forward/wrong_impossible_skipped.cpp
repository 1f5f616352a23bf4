void forward_loglik(const double *pi, const double *a, const double *b, const unsigned char *obs, int nseq,
                    int len, int n, int m, double *loglik) {
#pragma omp parallel
    {
        double *alpha = (double *)malloc(2 * (size_t)n * sizeof(double)), *fresh = alpha + n;
#pragma omp for schedule(static)
        for (int s = 0; s < nseq; s++) {
            const unsigned char *o = obs + (size_t)s * len;
            double ll = 0.0;
            for (int t = 0; t < len; t++) {
                double scale = 0.0;
                for (int j = 0; j < n; j++) fresh[j] = t ? 0.0 : pi[j];
                if (t)
                    for (int i = 0; i < n; i++)
                        for (int j = 0; j < n; j++) fresh[j] += alpha[i] * a[i * n + j];
                for (int j = 0; j < n; j++) scale += fresh[j] *= b[j * m + o[t]];
                if (scale <= 0.0) {
                    ll = -HUGE_VAL;
                    break;
                }
                for (int j = 0; j < n; j++) alpha[j] = fresh[j] / scale;
                ll += log(scale) * (t > 0);
            }
            loglik[s] = ll;
        }
        free(alpha);
    }
}
