#include <cmath>
#include <cstddef>

namespace dsp {

struct Biquad {
    float b0, b1, b2, a1, a2;
};

struct State {
    float z1, z2;
};

class FilterBank {
   public:
    static Biquad lowpass(float freq, float rate, float q) {
        const float w = 2.0f * static_cast<float>(M_PI) * freq / rate;
        const float alpha = std::sin(w) / (2.0f * q), cw = std::cos(w), a0 = 1.0f + alpha;
        return {(1 - cw) / 2 / a0, (1 - cw) / a0, (1 - cw) / 2 / a0, -2 * cw / a0, (1 - alpha) / a0};
    }

    static void process(const Biquad* sections, std::size_t numSections, State* states,
                        float* buffer, std::size_t channels, std::size_t frames);
};

// Transposed direct form II, one channel after the other, in place.
void FilterBank::process(const Biquad* sections, std::size_t numSections, State* states,
                         float* buffer, std::size_t channels, std::size_t frames) {
    for (std::size_t ch = 0; ch < channels; ++ch) {
        float* x = buffer + ch * frames;
        for (std::size_t s = 0; s < numSections; ++s) {
            const Biquad& c = sections[s];
            State& st = states[ch * numSections + s];
            for (std::size_t n = 0; n < frames; ++n) {
                const float in = x[n];
                const float out = c.b0 * in + st.z1;
                st.z1 = c.b1 * in - c.a1 * out + st.z2;
                st.z2 = c.b2 * in - c.a2 * out;
                x[n] = out;
            }
        }
    }
}

}  // namespace dsp
