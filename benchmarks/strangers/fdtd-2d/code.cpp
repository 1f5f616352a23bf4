/* 2-D FDTD (TMz), C89 style with row pointers made by macros */
#include <math.h>
#include <stdio.h>

#define Ez(I, J) ez[(I) * sizeY + (J)]
#define Hx(I, J) hx[(I) * (sizeY - 1) + (J)]
#define Hy(I, J) hy[(I) * sizeY + (J)]

void updateH2d(double *hx, double *hy, const double *ez, int sizeX, int sizeY) {
    int mm, nn;

    for (mm = 0; mm < sizeX; mm++)
        for (nn = 0; nn < sizeY - 1; nn++)
            Hx(mm, nn) = Hx(mm, nn) - 0.37 * (Ez(mm, nn + 1) - Ez(mm, nn));

    for (mm = 0; mm < sizeX - 1; mm++)
        for (nn = 0; nn < sizeY; nn++)
            Hy(mm, nn) = Hy(mm, nn) + 0.37 * (Ez(mm + 1, nn) - Ez(mm, nn));

    return;
}

void updateE2d(double *ez, const double *hx, const double *hy, int sizeX, int sizeY, double ceze,
               double cezh) {
    int mm, nn;
    double curl;

    if (sizeX < 3 || sizeY < 3)
        return;

    for (mm = 1; mm < sizeX - 1; mm++) {
        for (nn = 1; nn < sizeY - 1; nn++) {
            curl = (Hy(mm, nn) - Hy(mm - 1, nn)) - (Hx(mm, nn) - Hx(mm, nn - 1));
            Ez(mm, nn) = ceze * Ez(mm, nn) + cezh * curl;
        }
    }
}

double ezInc(double time, double location) {
    double arg = M_PI * ((0.5 * time - location) / 20.0 - 1.0);
    arg = arg * arg;
    return (1.0 - 2.0 * arg) * exp(-arg);
}
