void updateE2d(double *ez, const double *hx, const double *hy, int sizeX, int sizeY, double ceze,
               double cezh) {
    double curl;
#pragma omp parallel for schedule(static)
    for (int mm = 1; mm < sizeX - 1; mm++) {
        double *row = ez + (long)mm * sizeY;
        const double *y1 = hy + (long)mm * sizeY, *y0 = y1 - sizeY;
        const double *x = hx + (long)mm * (sizeY - 1);
        for (int nn = 1; nn < sizeY - 1; nn++) {
            curl = (y1[nn] - y0[nn]) - (x[nn] - x[nn - 1]);
#pragma omp flush
            row[nn] = ceze * row[nn] + cezh * curl;
        }
    }
}
