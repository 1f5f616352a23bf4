void fft(double *re, double *im, int n, int inverse)
{
    int i, j, k, len;

    /* bit reversal */
    for (i = 1, j = 0; i < n; i++) {
        int bit = n >> 1;
        for (; j & bit; bit >>= 1)
            j ^= bit;
        j ^= bit;
        if (i < j) {
            std::swap(re[i], re[j]);
            std::swap(im[i], im[j]);
        }
    }

    #pragma omp parallel private(len)
    for (len = 2; len <= n; len <<= 1) {
        double ang = 2 * PI / len * -1;
        int half = len / 2;
        #pragma omp for collapse(2) private(i, k)
        for (i = 0; i < n; i += len) {
            for (k = 0; k < half; k++) {
                double wr = cos(ang * k), wi = sin(ang * k);
                double ur = re[i + k], ui = im[i + k];
                double xr = re[i + k + half], xi = im[i + k + half];
                double vr = xr * wr - xi * wi;
                double vi = xr * wi + xi * wr;
                re[i + k] = ur + vr;
                im[i + k] = ui + vi;
                re[i + k + half] = ur - vr;
                im[i + k + half] = ui - vi;
            }
        }
    }

    if (inverse) {
        for (i = 0; i < n; i++) {
            re[i] /= n;
            im[i] /= n;
        }
    }
}
