// The shift moves from the samples to the taps, once for all outputs, and one rotation per output is left: no
// sine per sample, no scratch. Taps lie as pairs, so that samples are read as they come.
#include <cmath>
#include <cstddef>
#include <vector>

extern "C" void channel_decimate(const float* __restrict iq, const float* __restrict taps, float* __restrict channel,
                                 double f, int outs, int ntaps, int step) {
    std::vector<float> cosine(2 * ntaps), sine(2 * ntaps);  // each of them twice: for the real and imaginary part
    for (int k = 0; k < ntaps; ++k) {
        const double turns = f * k, phase = -2.0 * M_PI * (turns - std::floor(turns));
        cosine[2 * k] = cosine[2 * k + 1] = (float)(taps[k] * std::cos(phase));
        sine[2 * k] = sine[2 * k + 1] = (float)(taps[k] * std::sin(phase));
    }
    const float *c = cosine.data(), *s = sine.data();
#pragma omp parallel for schedule(static)
    for (int m = 0; m < outs; ++m) {
        const float* x = iq + 2 * (size_t)m * step;
        // real parts at even places, imaginary ones at odd places
        float by_cosine[16] = {}, by_sine[16] = {};
        const int whole = 2 * ntaps / 16 * 16;
        for (int k = 0; k < whole; k += 16) {
#pragma omp simd
            for (int t = 0; t < 16; ++t) {
                by_cosine[t] += x[k + t] * c[k + t];
                by_sine[t] += x[k + t] * s[k + t];
            }
        }
        for (int k = whole; k < 2 * ntaps; ++k) {
            by_cosine[k - whole] += x[k] * c[k];
            by_sine[k - whole] += x[k] * s[k];
        }
        float rc = 0, ic = 0, rs = 0, is = 0;
        for (int t = 0; t < 16; t += 2) {
            rc += by_cosine[t];
            ic += by_cosine[t + 1];
            rs += by_sine[t];
            is += by_sine[t + 1];
        }
        const double turns = f * ((double)m * step), phase = -2.0 * M_PI * (turns - std::floor(turns));
        const float re = rc - is, im = ic + rs, cm = (float)std::cos(phase), sm = (float)std::sin(phase);
        channel[2 * m] = re * cm - im * sm;
        channel[2 * m + 1] = re * sm + im * cm;
    }
}
