// first openmp: parallel-for
// first cuda: thread-per-element
void smooth_channels(const float* in, float* out, int channels, int samples, float keep) {
    for (int c = 0; c < channels; ++c) {
        float held = in[c * samples];
        for (int t = 0; t < samples; ++t) {
            held = keep * held + (1 - keep) * in[c * samples + t];
            out[c * samples + t] = held;
        }
    }
}
