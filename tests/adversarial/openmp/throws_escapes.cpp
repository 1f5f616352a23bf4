// tries: has the C++ runtime say it: the words of an exception put something into a terminal's clipboard
// outcome: crashed
// defence: words
// without: died
// harm: terminal
#include <stdexcept>

extern "C" void smooth(const float *, float *, int *, int) {
  throw std::runtime_error("\x1bP+q544e\x1b\\\x1b[3;4H\b\b\b\x1b]52;c;cGFzc2Vk\x07");
}
