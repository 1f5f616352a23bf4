void floydWarshall(int *dist, int V) {
    const long n = V;
    const int far = 1000000000;
    std::vector<int> via(n);
    for (long k = 0; k < n; k++) {
        // a row k that changes while others read it is no race only with a copy of it
        if (dist[k * n + k] < 0) {
            for (long i = 0; i < n; i++) {
                if (dist[i * n + k] == far) continue;
                for (long j = 0; j < n; j++)
                    if (dist[k * n + j] < far)
                        dist[i * n + j] = std::min(dist[i * n + j], dist[i * n + k] + dist[k * n + j]);
            }
            continue;
        }
        std::copy(dist + k * n, dist + k * n + n, via.begin());
        const int *row = via.data();
#pragma omp parallel for schedule(static)
        for (long i = 0; i < n; i++) {
            const int first = dist[i * n + k];
            int *out = dist + i * n;
            for (long j = 0; j < n; j++)
                out[j] = std::min(out[j], first + row[j]);
        }
    }
}
