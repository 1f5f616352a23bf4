#include <algorithm>
#include <cmath>
#include <iostream>
#include <limits>
#include <vector>

struct Options {
    int maxIterations = 100;
    float tolerance = 1e-4f;
};

static float squaredDistance(const float *a, const float *b, int dim) {
    float sum = 0.0f;
    for (int d = 0; d < dim; d++) {
        float diff = a[d] - b[d];
        sum += diff * diff;
    }
    return sum;
}

// One step of Lloyd's algorithm. Returns how many points changed their cluster.
int kmeansStep(const std::vector<float> &points, std::vector<float> &centroids,
               std::vector<int> &labels, int n, int k, int dim) {
    int changed = 0;
    std::vector<double> sums(k * dim, 0.0);
    std::vector<int> counts(k, 0);

    // assignment
    for (int i = 0; i < n; i++) {
        float best = std::numeric_limits<float>::max();
        int bestCluster = 0;
        for (int c = 0; c < k; c++) {
            float dist = squaredDistance(&points[i * dim], &centroids[c * dim], dim);
            if (dist < best) {
                best = dist;
                bestCluster = c;
            }
        }
        if (labels[i] != bestCluster) {
            labels[i] = bestCluster;
            changed++;
        }
    }

    // update
    for (int i = 0; i < n; i++) {
        int c = labels[i];
        counts[c]++;
        for (int d = 0; d < dim; d++) sums[c * dim + d] += points[i * dim + d];
    }
    for (int c = 0; c < k; c++) {
        if (counts[c] == 0) continue;  // keep the old centroid
        for (int d = 0; d < dim; d++) centroids[c * dim + d] = (float)(sums[c * dim + d] / counts[c]);
    }
    return changed;
}

void printCentroids(const std::vector<float> &centroids, int k, int dim) {
    for (int c = 0; c < k; c++) {
        for (int d = 0; d < dim; d++) std::cout << centroids[c * dim + d] << " ";
        std::cout << std::endl;
    }
}
