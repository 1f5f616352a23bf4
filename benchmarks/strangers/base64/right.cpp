size_t base64_encode(const unsigned char *src, size_t len, char *dst) {
    const size_t groups = len / 3, rest = len % 3;
#pragma omp parallel for schedule(static)
    for (size_t g = 0; g < groups; ++g) {
        const unsigned int v = ((unsigned int)src[3 * g] << 16) |
                               ((unsigned int)src[3 * g + 1] << 8) | src[3 * g + 2];
        char *to = dst + 4 * g;
        to[0] = kAlphabet[(v >> 18) & 0x3f];
        to[1] = kAlphabet[(v >> 12) & 0x3f];
        to[2] = kAlphabet[(v >> 6) & 0x3f];
        to[3] = kAlphabet[v & 0x3f];
    }
    size_t o = 4 * groups;
    if (rest) {
        unsigned int v = (unsigned int)src[3 * groups] << 16;
        if (rest == 2) v |= (unsigned int)src[3 * groups + 1] << 8;
        dst[o++] = kAlphabet[(v >> 18) & 0x3f];
        dst[o++] = kAlphabet[(v >> 12) & 0x3f];
        dst[o++] = rest == 2 ? kAlphabet[(v >> 6) & 0x3f] : '=';
        dst[o++] = '=';
    }
    return o;
}
