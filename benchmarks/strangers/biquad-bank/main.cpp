#include <cstddef>
#include <cstdio>
#include <vector>

namespace dsp {
struct Biquad {
    float b0, b1, b2, a1, a2;
};
struct State {
    float z1, z2;
};
class FilterBank {
   public:
    static void process(const Biquad*, std::size_t, State*, float*, std::size_t, std::size_t);
};
}  // namespace dsp

int main() {
    const std::size_t channels = 6, frames = 1000, sections = 3;
    std::vector<dsp::Biquad> c(sections, dsp::Biquad{0.2f, 0.3f, 0.2f, -0.5f, 0.2f});
    std::vector<dsp::State> z(channels * sections, dsp::State{0, 0});
    std::vector<float> x(channels * frames);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = (i * 7919 % 1009) / 1009.0f - 0.5f;
    for (int block = 0; block < 2; ++block)
        dsp::FilterBank::process(c.data(), sections, z.data(), x.data(), channels, frames);
    double sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * double(i % 5 + 1);
    for (const auto& s : z) sum += s.z1 - s.z2;
    std::printf("%.5f\n", sum);
}
