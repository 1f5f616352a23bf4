// count[a][b] = how many samples with label a were guessed to be b.
extern "C" void confusion_matrix(const unsigned char* label, const unsigned char* guess, int* count, int n, int classes) {
    for (int i = 0; i < classes * classes; ++i) count[i] = 0;
    for (int i = 0; i < n; ++i) ++count[label[i] * classes + guess[i]];
}
