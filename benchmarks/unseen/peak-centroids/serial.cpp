// Groups of consecutive peaks of a mass spectrum: intensity-weighted centre, total intensity and the place of the
// highest peak (the first of equals, -1 in an empty group).
struct Peaks {
    const double* mz;
    const float* intensity;
};

static void measure(const Peaks& peaks, int first, int last, double* centroid, double* area, int* apex) {
    double moment = 0, total = 0;
    float highest = 0;
    int at = -1;
    for (int i = first; i < last; ++i) {
        const float height = peaks.intensity[i];
        moment += peaks.mz[i] * height;
        total += height;
        if (at < 0 || height > highest) {
            highest = height;
            at = i;
        }
    }
    *centroid = total > 0 ? moment / total : 0.0;
    *area = total;
    *apex = at;
}

extern "C" void peak_centroids(const double* mz, const float* intensity, const int* start, double* centroid, double* area,
                               int* apex, int peaks, int groups) {
    const Peaks all = {mz, intensity};
    for (int g = 0; g < groups; ++g) measure(all, start[g], start[g + 1], &centroid[g], &area[g], &apex[g]);
}
