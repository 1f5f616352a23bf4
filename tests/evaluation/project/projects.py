"""Small projects with builds, tests and benches of their own, and problems about them."""

from pathlib import Path

HEADER = """\
#ifdef __cplusplus
extern "C"
#endif
void smooth(const float* x, float* y, int n, int width);
"""
KERNEL = """\
#include "smooth.h"

void smooth(const float* x, float* y, int n, int width) {
    for (int i = 0; i < n; ++i) {
        float sum = 0;
        for (int j = 0; j < width; ++j) sum += x[(i + j) % n];
        y[i] = sum / width;
    }
}
"""
FASTER = """\
#include "smooth.h"

void smooth(const float* x, float* y, int n, int width) {
    double sum = 0;
    for (int j = 0; j < width; ++j) sum += x[j % n];
    for (int i = 0; i < n; ++i) {
        y[i] = static_cast<float>(sum / width);
        sum += static_cast<double>(x[(i + width) % n]) - x[i];
    }
}
"""
TEST = """\
#include <math.h>
#include <stdio.h>
#include "smooth.h"

int main(void) {
    const int sizes[][2] = {{1, 1}, {5, 3}, {1000, 37}};
    for (int k = 0; k < 3; ++k) {
        int n = sizes[k][0], width = sizes[k][1];
        static float x[1000], y[1000];
        for (int i = 0; i < n; ++i) x[i] = sinf(0.1f * i) + 2;
        smooth(x, y, n, width);
        for (int i = 0; i < n; ++i) {
            double sum = 0;
            for (int j = 0; j < width; ++j) sum += x[(i + j) % n];
            if (fabs(y[i] - sum / width) > 1e-4) {
                printf("n = %d: y[%d] is %g, not %g\\n", n, i, y[i], sum / width);
                return 1;
            }
        }
    }
    puts("3 sizes right");
}
"""
BENCH = """\
#include <stdio.h>
#include <stdlib.h>
#include "smooth.h"

int main(int count, char** arguments) {
    const char* seed = getenv("REGRAPH_SEED");
    unsigned random = seed ? atoi(seed) : 0;
    int n = atoi(arguments[1]);
    float *x = malloc(n * sizeof *x), *y = malloc(n * sizeof *y);
    for (int i = 0; i < n; ++i)
        x[i] = 1 + ((random = random * 1664525u + 1013904223u) >> 8) / 16777216.0f;
    smooth(x, y, n, 400);
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += y[i] * (1 + i % 7);
    printf("%.9e\\n", sum);
}
"""
"""In C, as its headers are translated in a tenth of the time of those of C++."""
MAKEFILE = """\
all: test bench
kernel.o: src/kernel.cpp src/smooth.h
\tg++ -std=c++17 -O2 -c src/kernel.cpp -o $@
%.o: checks/%.c src/smooth.h
\tgcc -O2 -Isrc -c $< -o $@
test bench: %: %.o kernel.o
\tg++ $^ -o $@
"""
CMAKE = """\
cmake_minimum_required(VERSION 3.16)
project(smooth C CXX)
enable_testing()
set(CMAKE_CXX_STANDARD 17)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
add_library(kernel STATIC src/kernel.cpp)
target_include_directories(kernel PUBLIC src)
add_executable(test_smooth checks/test.c)
target_link_libraries(test_smooth kernel m)
add_executable(bench checks/bench.c)
target_link_libraries(bench kernel)
add_test(NAME smooth COMMAND test_smooth)
set_tests_properties(smooth PROPERTIES PASS_REGULAR_EXPRESSION "3 sizes right")
"""
TOML = """\
schema = 1
name = "smooth"
entry = "smooth"

[commands]
project = "../project"
file = "src/kernel.cpp"
build = ["make -s"]
test = ["./test"]
passed = ["3 sizes right"]
bench = "./bench 20000"
"""
WITH_CMAKE = """\
build = ["cmake -S . -B build", "cmake --build build"]
test = ["ctest --test-dir build --verbose"]
passed = ["3 sizes right", "100% tests passed, 0 tests failed out of 1"]
bench = "build/bench 20000"
"""


def make(folder: Path, **replaced: str) -> Path:
    """`folder`/project with a Makefile and CMakeLists.txt, and its problem's folder.

    `replaced`: files of the project by their stem (kernel, test, bench, Makefile, ..).
    """
    files = {
        "src/smooth.h": HEADER,
        "src/kernel.cpp": KERNEL,
        "checks/test.c": TEST,
        "checks/bench.c": BENCH,
        "Makefile": MAKEFILE,
        "CMakeLists.txt": CMAKE,
    }
    for name, text in files.items():
        path = folder / "project" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(replaced.get(path.stem, text))
    problem = folder / "smooth"
    problem.mkdir()
    (problem / "problem.toml").write_text(TOML)
    return problem


def edit(problem: Path, old: str, new: str) -> None:
    """Replace a text of problem.toml."""
    path = problem / "problem.toml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def with_cmake(problem: Path) -> None:
    """Have CMake build it, ctest test it."""
    path = problem / "problem.toml"
    head = path.read_text().partition("build =")[0]
    path.write_text(head + WITH_CMAKE)
