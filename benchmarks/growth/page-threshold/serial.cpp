// Ink of a scanned page: 1 where a pixel is darker than the mean of the square around it by `bias` per cent. The
// square is cut off at the edges of the page.
typedef unsigned char byte;

extern "C" void page_threshold(const byte* page, byte* ink, int radius, int bias, int rows, int cols) {
    for (int y = 0; y < rows; y++) {
        for (int x = 0; x < cols; x++) {
            int sum = 0, count = 0;
            for (int v = y - radius; v <= y + radius; v++) {
                if (v < 0 || v >= rows) continue;
                for (int u = x - radius; u <= x + radius; u++) {
                    if (u >= 0 && u < cols) {
                        sum += page[v * cols + u];
                        count++;
                    }
                }
            }
            ink[y * cols + x] = page[y * cols + x] * count * 100 < sum * (100 - bias) ? 1 : 0;
        }
    }
}
