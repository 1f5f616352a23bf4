Mask erode(const Mask& mask, int w, int h, int radius) {
    std::vector<unsigned char> bytes(mask.size());  // bits share words: threads write bytes
#pragma omp parallel for schedule(dynamic, 4)
    for (int y = 0; y < h; ++y) {
        for (int x = 0; x < w; ++x) {
            bool keep = true;
            for (int dy = -radius; dy <= radius && keep; ++dy)
                for (int dx = -radius; dx < radius && keep; ++dx) {
                    if (dx * dx + dy * dy > radius * radius) continue;
                    const int px = x + dx, py = y + dy;
                    keep = px >= 0 && py >= 0 && px < w && py < h && mask[py * w + px];
                }
            bytes[y * w + x] = keep;
        }
    }
    return Mask(bytes.begin(), bytes.end());
}
