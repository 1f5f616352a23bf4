/* Mixes the tracks of a song to stereo. pan: 0 is left, 1 is right. A soft limiter keeps both sides within -1 and 1. */
#include <math.h>
#include <stddef.h>

extern "C" void stem_mixdown(const float* stems, const float* gain, const float* pan, float* left, float* right,
                             int tracks, int samples) {
    int s, t;
    for (s = 0; s < samples; s++) {
        float l = 0, r = 0;
        for (t = 0; t < tracks; t++) {
            float x = stems[(size_t)t * samples + s] * gain[t];
            l += x * (1 - pan[t]);
            r += x * pan[t];
        }
        left[s] = l / (1 + fabsf(l));
        right[s] = r / (1 + fabsf(r));
    }
}
