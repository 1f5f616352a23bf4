// first openmp: array-reduction thread-private-copies reduction-clause parallel-for atomic-updates
// first cuda: thread-per-element shared-memory-privatization block-reduction
void count_letters(const char* words, int size, int* seen) {
    for (int at = 0; at < size; at++) {
        char which = words[at];
        seen[which]++;
    }
}
