void mandelbrot(int* out, int width, int height, double x0, double y0, double x1, double y1, int max_iter)
{
    double dx = (x1 - x0) / width;
    double dy = (y1 - y0) / height;

    #pragma omp parallel for schedule(dynamic, 4)
    for (int j = 0; j < height; j++) {
        for (int i = 0; i < width; ++i) {
            double c_re = x0 + i * dx;
            double c_im = y0 + j * dy;
            double z_re = c_re, z_im = c_im;
            int it;
            for (it = 0; it < max_iter; ++it) {
                if (z_re * z_re + z_im * z_im > 4.0)
                    break;
                double new_re = z_re * z_re - z_im * z_im;
                double new_im = 2.0 * z_re * z_im;
                z_re = c_re + new_re;
                z_im = c_im + new_im;
            }
            out[j * width + i] = it;
        }
    }
}
