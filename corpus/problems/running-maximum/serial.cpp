// out[i] = largest of in[0], .., in[i].
extern "C" void running_maximum(const int* in, int* out, int n) {
    int top = in[0];
    for (int i = 0; i < n; ++i) {
        top = in[i] > top ? in[i] : top;
        out[i] = top;
    }
}
