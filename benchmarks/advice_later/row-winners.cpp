// first openmp: parallel-for
// first cuda: thread-per-element warp-per-task block-per-task
void row_winners(const double* score, int* winner, int voters, int choices) {
    int v, c;
    for (v = 0; v < voters; v++) {
        int best = 0;
        for (c = 1; c < choices; c++)
            if (score[v * choices + c] > score[v * choices + best]) best = c;
        winner[v] = best;
    }
}
