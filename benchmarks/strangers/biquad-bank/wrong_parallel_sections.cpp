void process(const Biquad* sections, std::size_t numSections, State* states, float* buffer,
             std::size_t channels, std::size_t frames) {
    for (std::size_t ch = 0; ch < channels; ++ch) {
        float* x = buffer + ch * frames;
#pragma omp parallel for
        for (std::size_t s = 0; s < numSections; ++s) {
            const Biquad c = sections[s];
            float z1 = states[ch * numSections + s].z1, z2 = states[ch * numSections + s].z2;
            for (std::size_t n = 0; n < frames; ++n) {
                const float in = x[n];
                const float out = c.b0 * in + z1;
                z1 = c.b1 * in - c.a1 * out + z2;
                z2 = c.b2 * in - c.a2 * out;
                x[n] = out;
            }
            states[ch * numSections + s].z1 = z1;
            states[ch * numSections + s].z2 = z2;
        }
    }
}
