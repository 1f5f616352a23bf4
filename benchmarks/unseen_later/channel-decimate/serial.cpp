/* One channel of a radio's samples: shift it to frequency 0 (f in turns per sample), low-pass, keep every step-th. */
#include <math.h>
#include <stdlib.h>

extern "C" void channel_decimate(const float *iq, const float *taps, float *channel, double f, int outs, int ntaps,
                                 int step)
{
    long samples = (long)step * (outs - 1) + ntaps;
    float *mixed = (float *)malloc(2 * samples * sizeof(float));
    long i;
    int m, k;

    for (i = 0; i < samples; i++) {
        double turns = f * i;
        double phase = -2.0 * M_PI * (turns - floor(turns));
        float c = (float)cos(phase), s = (float)sin(phase);
        mixed[2 * i] = iq[2 * i] * c - iq[2 * i + 1] * s;
        mixed[2 * i + 1] = iq[2 * i] * s + iq[2 * i + 1] * c;
    }
    for (m = 0; m < outs; m++) {
        const float *x = mixed + 2 * (long)m * step;
        float re = 0, im = 0;
        for (k = 0; k < ntaps; k++) {
            re += taps[k] * x[2 * k];
            im += taps[k] * x[2 * k + 1];
        }
        channel[2 * m] = re;
        channel[2 * m + 1] = im;
    }
    free(mixed);
}
