"""A model's part becomes a file; what is a file already stays as it is."""

import time

import pytest

from regraph_kg.models.port import Port

PORT = Port(
    entry="scale",
    head="#include <cuda_runtime.h>\n",
    start="",
    tail='extern "C" void scale(float* x) {\n    launch(x);\n}\n',
    signature="void launch(float* x)",
    types=(("P", "struct P { int x; };\n"),),
)
LAUNCH = "void launch(float* x) {\n    k<<<1, 1>>>(x);\n}"
KERNEL = "__global__ void k(float* x) {}\n"


def test_a_part_stands_between_headers_and_wrapper() -> None:
    part = f"struct P {{ int x; }};\n{KERNEL}{LAUNCH}"
    assert PORT.whole(f"\n{part}\n\n") == f"{PORT.head}\n{part}\n\n{PORT.tail}"


def test_the_part_of_a_file_is_found_again() -> None:
    part = f"struct P {{ int x; }};\n{KERNEL}{LAUNCH}\n"
    assert PORT.part(PORT.whole(part)) == part
    assert PORT.whole(PORT.part(PORT.whole(LAUNCH))) == PORT.whole(LAUNCH)
    whole = 'extern "C" void scale(float* x) {}'
    assert PORT.part(whole) == whole


@pytest.mark.parametrize(
    "file",
    [
        f'{KERNEL}extern "C" void scale(float* x) {{ k<<<1, 1>>>(x); }}',
        f'{KERNEL}extern "C" {{\nvoid scale(float* x)\n{{ k<<<1, 1>>>(x); }}\n}}',
        f'#include <cuda_runtime.h>\n{KERNEL}{LAUNCH}\nextern "C" void\nscale (float *x) {{}}',
        f"{KERNEL}// the entry {{\nint* scale(float* x) {{}}",
    ],
)
def test_a_file_that_defines_the_entry_is_taken_as_it_is(file: str) -> None:
    assert PORT.whole(file) == file


@pytest.mark.parametrize(
    "part",
    [
        LAUNCH,
        f"// void scale(float* x) {{ }}\n{LAUNCH}",
        f"/* void scale(float* x) {{ */\n{LAUNCH}",
        f'extern "C" void scale(float* x);\n{LAUNCH}',
        "void launch(float* x) { if (scale(x)) { } }",
        "void launch(float* x) { return scale(x); }",
        f"__device__ float rescale(float x) {{ return x; }}\n{LAUNCH}",
    ],
)
def test_a_part_that_only_names_the_entry_gets_the_wrapper(part: str) -> None:
    assert PORT.whole(part).endswith(f"{part}\n\n{PORT.tail}")


@pytest.mark.parametrize("bounds", ["", " __launch_bounds__(256)"])
def test_a_kernel_with_the_name_of_the_entry_gets_another(bounds: str) -> None:
    kernel = f"__global__ void{bounds} scale(float* x) {{}}"
    part = f"{kernel}\nvoid launch(float* x) {{ scale<<<1, 1>>>(x); }}"
    whole = PORT.whole(part)
    assert "scale_kernel(float* x) {}" in whole
    assert "scale_kernel<<<1, 1>>>(x)" in whole
    assert whole.endswith(PORT.tail)


def test_headers_may_come_twice_and_structs_come_once() -> None:
    assert PORT.whole(f"#include <cuda_runtime.h>\n{LAUNCH}").count("struct P {") == 1
    assert PORT.whole(f"struct P {{ int x; }};\n{LAUNCH}").count("struct P {") == 1
    assert PORT.whole(f"struct P;\n{LAUNCH}").count("struct P {") == 1


@pytest.mark.parametrize("text", ["scale(", "struct P ", " ", "a ", "/*", "scale (a) ", "#\\\n"])
def test_a_model_that_repeats_itself_is_read_at_once(text: str) -> None:
    start = time.perf_counter()
    PORT.whole(text * (60_000 // len(text)))
    assert time.perf_counter() - start < 5
