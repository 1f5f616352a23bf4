#include <stddef.h>

static const char kAlphabet[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

#define PAD '='

/* Returns the number of characters written; dst must hold 4 * ((len + 2) / 3) of them. */
size_t base64_encode(const unsigned char *src, size_t len, char *dst) {
    size_t i, o = 0;
    unsigned int v;

    if (len == 0) goto done;
    for (i = 0; i + 2 < len; i += 3) {
        v = ((unsigned int)src[i] << 16) | ((unsigned int)src[i + 1] << 8) | src[i + 2];
        dst[o++] = kAlphabet[(v >> 18) & 0x3f];
        dst[o++] = kAlphabet[(v >> 12) & 0x3f];
        dst[o++] = kAlphabet[(v >> 6) & 0x3f];
        dst[o++] = kAlphabet[v & 0x3f];
    }
    if (i < len) {
        v = (unsigned int)src[i] << 16;
        if (i + 1 < len) v |= (unsigned int)src[i + 1] << 8;
        dst[o++] = kAlphabet[(v >> 18) & 0x3f];
        dst[o++] = kAlphabet[(v >> 12) & 0x3f];
        dst[o++] = i + 1 < len ? kAlphabet[(v >> 6) & 0x3f] : PAD;
        dst[o++] = PAD;
    }
done:
    return o;
}
