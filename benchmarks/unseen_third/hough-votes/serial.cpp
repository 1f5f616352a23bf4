/* Lines in a picture of a weld (Hough): each edge pixel votes, for each angle, for the line through it.
 * cosine, sine: 14 bits after the point. A row of votes has a place for each distance from -(w + h) to w + h. */
#include <stddef.h>
#include <string.h>

extern "C" void hough_votes(const int* px, const int* py, const int* cosine, const int* sine, int* votes, int points,
                            int angles, int w, int h) {
    int p, a;
    int middle = w + h;
    int places = 2 * middle + 1;

    memset(votes, 0, sizeof(int) * (size_t)angles * places);
    for (p = 0; p < points; p++) {
        int x = px[p], y = py[p];
        for (a = 0; a < angles; a++) {
            int rho = (x * cosine[a] + y * sine[a]) >> 14;
            votes[(size_t)a * places + middle + rho]++;
        }
    }
}
