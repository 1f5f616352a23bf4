#include <math.h>
#include <stdlib.h>
#include <string.h>

#define A(i, j) a[(i) * n + (j)]
#define B(i, o) b[(i) * m + (o)]

/* loglik[s] of each of nseq sequences of length len; HUGE_VAL negative where it is impossible. */
void forward_loglik(const double *pi, const double *a, const double *b, const unsigned char *obs, int nseq,
                    int len, int n, int m, double *loglik) {
    register int i, j, t;
    int s;
    double sum, scale, ll;
    double *alpha = (double *)malloc(2 * n * sizeof(double));
    double *fresh = alpha + n;

    for (s = 0; s < nseq; s++) {
        const unsigned char *o = obs + (size_t)s * len;
        ll = 0.0;
        for (t = 0; t < len; t++) {
            scale = 0.0;
            for (j = 0; j < n; j++) {
                if (t == 0) {
                    sum = pi[j];
                } else {
                    sum = 0.0;
                    for (i = 0; i < n; i++) sum += alpha[i] * A(i, j);
                }
                fresh[j] = sum * B(j, o[t]);
                scale += fresh[j];
            }
            if (scale <= 0.0) {
                ll = -HUGE_VAL;
                goto store;
            }
            for (j = 0; j < n; j++) fresh[j] /= scale;
            memcpy(alpha, fresh, n * sizeof(double));
            ll += log(scale);
        }
    store:
        loglik[s] = ll;
    }
    free(alpha);
}
