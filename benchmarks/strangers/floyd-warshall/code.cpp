#include <algorithm>
#include <iostream>
#include <vector>

#define INF 1000000000
#define IDX(i, j) ((i) * (long)V + (j))

/* All pairs of shortest paths, in place. */
void floydWarshall(int *dist, int V) {
    int i, j, k;
    for (k = 0; k < V; k++) {
        for (i = 0; i < V; i++) {
            if (dist[IDX(i, k)] == INF) continue;
            for (j = 0; j < V; j++) {
                if (dist[IDX(k, j)] < INF)
                    dist[IDX(i, j)] =
                        std::min(dist[IDX(i, j)], dist[IDX(i, k)] + dist[IDX(k, j)]);
            }
        }
    }
}

void printSolution(const std::vector<int> &dist, int V) {
    for (int i = 0; i < V; i++) {
        for (int j = 0; j < V; j++) {
            if (dist[IDX(i, j)] == INF)
                std::cout << "INF ";
            else
                std::cout << dist[IDX(i, j)] << " ";
        }
        std::cout << std::endl;
    }
}
