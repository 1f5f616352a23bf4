"""A candidate cannot tell the build whose threads are held up, nor keep parts of it out."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from regraph_kg.evaluation.compile.compile import HOST_FLAGS, Compiler
from regraph_kg.evaluation.compile.source_rules import rejected
from regraph_kg.evaluation.compile.toolchain import find_gcc
from regraph_kg.evaluation.rules import Failure, JudgeLimits
from regraph_kg.models.evaluation import Outcome

UPDATE = 'extern "C" %s void f(int *x) { for (int i = 0; i < 9; ++i) *x += i; }\n'
PASTED = "#define GLUE(a, b) a##b\n"


@pytest.fixture(scope="module")
def compiler(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Compiler]:
    made = Compiler(tmp_path_factory.mktemp("cache"), find_gcc(), JudgeLimits())
    yield made
    made.close()


def marks(library: Path | Failure) -> int:
    """Calls of the marks of reads and writes."""
    assert isinstance(library, Path), library
    text = subprocess.run(["objdump", "-d", library], capture_output=True, text=True, check=True)
    lines = [line for line in text.stdout.splitlines() if "call" in line]
    return sum("__tsan_read" in line or "__tsan_write" in line for line in lines)


@pytest.mark.parametrize(
    "code",
    [
        "#ifdef __SANITIZE_THREAD__\n#endif",
        'extern "C" void __tsan_read1(void*) __attribute__((weak));',
        '__attribute__((no_sanitize("thread"))) void f();',
        "#undef no_sani\\\ntize",
        'extern "C" void regraph_perturb() {}',
    ],
)
def test_a_source_that_names_what_only_that_build_has_is_rejected(code: str) -> None:
    failure = rejected(f"{code}\n{UPDATE % ''}")
    assert failure is not None
    assert failure.outcome is Outcome.REJECTED_SOURCE


@pytest.mark.parametrize(
    "code",
    [
        'extern "C" void mark(void*) __asm__("__ts" "an_read1") __attribute__((weak));\n'
        "bool held = mark != nullptr;",
        f'{PASTED}extern "C" void GLUE(__ts, an_init)() {{}}',
        f'{PASTED}extern "C" void GLUE(regraph_, perturb)() {{}}',
    ],
)
def test_so_is_one_that_has_such_a_symbol_by_another_spelling(
    compiler: Compiler, code: str
) -> None:
    failure = compiler.host(f"{code}\n{UPDATE % ''}", HOST_FLAGS, own_symbols=False)
    assert isinstance(failure, Failure)
    assert failure.outcome is Outcome.REJECTED_SOURCE


@pytest.mark.parametrize(
    ("before", "attribute"),
    [
        (PASTED, '__attribute__((GLUE(no_san, itize)("thread")))'),
        (PASTED, "__attribute__((GLUE(__no_sanitize, _thread__)))"),
        ('#pragma GCC optimize("O3", "unroll-loops")\n', ""),
        ('_Pragma("GCC optimize(\\"Ofast\\")")\n', ""),
        ("", '__attribute__((optimize("O3")))'),
    ],
)
def test_no_attribute_takes_an_access_out_of_it(
    compiler: Compiler, before: str, attribute: str
) -> None:
    plain = marks(compiler.perturbed(UPDATE % "", HOST_FLAGS))
    assert plain >= 2, "the sum stays in memory: it is read and written each time"
    assert marks(compiler.perturbed(before + UPDATE % attribute, HOST_FLAGS)) == plain


def test_the_same_macros_are_defined_in_both(compiler: Compiler) -> None:
    tells = "!__OPTIMIZE__ || defined(__NO_INLINE__) || defined(__SANITIZE_THREAD__)"
    code = f"#if {tells}\n#error\n#endif"
    for make in (compiler.host, compiler.perturbed):
        assert isinstance(make(code, HOST_FLAGS), Path)
