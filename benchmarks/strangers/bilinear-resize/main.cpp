#include <cstdint>
#include <cstdio>
#include <vector>

struct Extent {
    int width, height;
};

namespace Image {
void resize(const std::uint8_t* src, const Extent& in, std::uint8_t* dst, const Extent& out);
}

int main() {
    const Extent in{40, 30};
    std::vector<std::uint8_t> src(in.width * in.height * 3);
    for (std::size_t i = 0; i < src.size(); ++i) src[i] = i * 7919 % 256;
    for (Extent out : {Extent{40, 30}, Extent{97, 61}, Extent{13, 7}}) {
        std::vector<std::uint8_t> dst(out.width * out.height * 3);
        Image::resize(src.data(), in, dst.data(), out);
        unsigned sum = 0;
        for (auto v : dst) sum = sum * 31 + v;
        std::printf("%u\n", sum);
    }
}
