#include <cstdio>
#include <vector>

void forward_loglik(const double *pi, const double *a, const double *b, const unsigned char *obs, int nseq,
                    int len, int n, int m, double *loglik);

int main() {
    const int n = 9, m = 5, len = 70, nseq = 33;
    std::vector<double> pi(n), a(n * n), b(n * m), out(nseq);
    for (int i = 0; i < n; ++i) pi[i] = (i % 3 + 1) / 18.0;
    for (int i = 0; i < n * n; ++i) a[i] = (i * 7919 % 1009 + 1) / 4545.0;
    for (int i = 0; i < n * m; ++i) b[i] = i % m == 4 ? 0.0 : (i * 31 % 7 + 1) / 20.0;
    std::vector<unsigned char> obs(nseq * len);
    for (int i = 0; i < nseq * len; ++i) obs[i] = i * 104729 % 997 % 4;
    obs[5 * len + 7] = 4;
    forward_loglik(pi.data(), a.data(), b.data(), obs.data(), nseq, len, n, m, out.data());
    double sum = 0;
    for (int s = 0; s < nseq; ++s) sum += s == 5 ? (out[s] < -1e300) : out[s] * (s % 3 + 1);
    std::printf("%.7f\n", sum);
}
