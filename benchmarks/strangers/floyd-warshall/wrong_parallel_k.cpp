void floydWarshall(int *dist, int V) {
    const long n = V;
#pragma omp parallel for schedule(static)
    for (long k = 0; k < n; k++)
        for (long i = 0; i < n; i++) {
            if (dist[i * n + k] == 1000000000) continue;
            for (long j = 0; j < n; j++)
                if (dist[k * n + j] < 1000000000)
                    dist[i * n + j] = std::min(dist[i * n + j], dist[i * n + k] + dist[k * n + j]);
        }
}
