// problem: corpus/problems/reduction
// bug: four floats are added in float before they go to double: x = 16777216, 1, 16777216, 1, .. loses every 1; random values hide it, as their rounding cancels
// class: precision
extern "C" void reduction(const float* x, double* total, int n) {
    double sum = 0.0;
    const int whole = n - n % 4;
#pragma omp parallel for reduction(+ : sum) schedule(static)
    for (int i = 0; i < whole; i += 4) {
        sum += (x[i] + x[i + 1]) + (x[i + 2] + x[i + 3]);
    }
    for (int i = whole; i < n; ++i) {
        sum += x[i];
    }
    total[0] = sum;
}
