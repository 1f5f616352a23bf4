/* Planar YUV 4:2:0 to packed RGB, ITU-R BT.601, limited range. Chroma planes have half the width and height. */
#include <stddef.h>

#define CLIP(value) ((value) < 0 ? 0 : (value) > 255 ? 255 : (value))

extern "C" void yuv_frames(const unsigned char *luma, const unsigned char *u, const unsigned char *v,
                           unsigned char *rgb, int frames, int h, int w)
{
    int f, row, col;
    for (f = 0; f < frames; f++) {
        for (row = 0; row < 2 * h; row++) {
            for (col = 0; col < 2 * w; col++) {
                size_t at = ((size_t)f * 2 * h + row) * 2 * w + col;
                size_t chroma = ((size_t)f * h + row / 2) * w + col / 2;
                int c = 298 * (luma[at] - 16);
                int d = u[chroma] - 128;
                int e = v[chroma] - 128;
                int r = (c + 409 * e + 128) >> 8;
                int g = (c - 100 * d - 208 * e + 128) >> 8;
                int b = (c + 516 * d + 128) >> 8;
                rgb[3 * at + 0] = CLIP(r);
                rgb[3 * at + 1] = CLIP(g);
                rgb[3 * at + 2] = CLIP(b);
            }
        }
    }
}
