"""What another part of the user's program may change is no constant of a problem."""

from pathlib import Path

import pytest

from regraph_kg.adopt.reading import understand
from regraph_kg.cpp.functions import parsed
from regraph_kg.errors import BadInput

FILE = """float gain = 2;
static float bias = 1;
static const float fixed = 3;
static int steps[3] = {3, 1, 2};
static float given[2] = {1, 2};
const float* const there = given;
float& same = gain;
namespace a { int mode; }
struct Cfg { static float by; static constexpr int q = 4; inline static int left = 3; };
float Cfg::by = 2;
#define MODE a::mode
#define AGAIN (MODE + 1)
float (*made)(float) = nullptr;
auto squared = [](float x) { return x * x; };
void fill(float* values);
void set(float to) { bias = to; fill(given); }
static float biased(float x) { return x * bias; }
struct Biased { float operator()(float x) const { return x * bias; } };
struct Own { float gain; };
"""


def taken(factor: str, given: str = "", before: str = "") -> None:
    loop = f"for (int i = 0; i < n; ++i) y[i] = x[i] * {factor};"
    code = f"{FILE}void f(const float* x, float* y, int n{given}) {{ {before} {loop} }}\n"
    understand(parsed(Path("own.cpp"), code.encode()), "f")


@pytest.mark.parametrize(
    ("factor", "name"),
    [
        *(("gain", "gain"), ("::gain", "gain"), ("bias", "bias"), ("Cfg::by", "by")),
        *(("Cfg::left", "left"), ("MODE", "mode"), ("AGAIN", "mode"), ("given[1]", "given")),
        *(
            ("there[1]", "there"),
            ("steps[1]", "steps"),
            ("same", "same"),
            ("biased(2)", "bias"),
            ("Biased()(2)", "bias"),
        ),
        ("(made ? made(2) : 1)", "made"),
    ],
)
def test_a_global_that_may_change_is_refused(factor: str, name: str) -> None:
    with pytest.raises(BadInput, match=rf"line \d+: \w+ uses {name}, which is global and may"):
        taken(factor)


def test_a_global_behind_a_variable_of_its_name_is_refused() -> None:
    with pytest.raises(BadInput, match="f uses gain"):
        taken("factor", before="float factor = ::gain;")
    with pytest.raises(BadInput, match="f uses gain"):
        taken("factor", before="float factor = gain; gain = 3;")


@pytest.mark.parametrize("factor", ["fixed", "Cfg::q", "squared(2)"])
def test_a_global_that_nothing_changes_stays(factor: str) -> None:
    taken(factor)


def test_a_name_of_the_functions_own_is_no_global() -> None:
    taken("gain", given=", float gain")
    taken("gain", before="float gain = 3;")
    taken("own.gain", before="Own own{2};")
