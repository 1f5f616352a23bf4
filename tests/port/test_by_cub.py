"""Sorts, scans and sums of the library become calls of CUB, and what looks alike does not."""

from pathlib import Path

import pytest

from regraph_kg.models.port import Port
from regraph_kg.port.port import port

from .emulated import differences
from .test_port import HEAD, N, X, Y, ported, problem

BEST = "%s for (int i = 0; i < n; ++i) y[i] = best + 10 * at;"
STEPS = {  # a body -> the function that it calls
    "std::partial_sum(x, x + n, y);": "partial_sum",
    "std::exclusive_scan(x, x + n, y, 1.5f);": "exclusive_scan",
    "const double s = std::accumulate(x, x + n, 0.0) / n; for (int i = 0; i < n; ++i) y[i] = s;": (
        "accumulate"
    ),
    "std::copy(x, x + n, y); std::sort(y, y + n);": "sort",
    "std::copy(x, x + n, y); std::sort(y, y + n, std::greater<float>());": "sort",
    "std::vector<double> t(x, x + n); std::stable_sort(t.begin(), t.end(), [](double a, double b) {"
    " return a > b; }); for (int i = 0; i < n; ++i) y[i] = t[i];": "sort",
    BEST % "const int at = std::max_element(x, x + n) - x; const float best = x[at];": (
        "max_element"
    ),
}
LOOK_ALIKES = [
    "const double s = std::accumulate(x, x + n, 0); for (int i = 0; i < n; ++i) y[i] = s;",
    "const double s = std::accumulate(x, x + n, 1.0, [](double a, double b) { return a * b; });"
    " for (int i = 0; i < n; ++i) y[i] = s;",
    "for (int i = 0; i < n; ++i) { float t[3] = {x[i], 1, 0}; std::sort(t, t + 3); y[i] = t[1]; }"
    " y[0] = *std::max_element(y, y + 1) + x[0];",
]
HEADERS = "#include <algorithm>\n#include <cmath>\n#include <numeric>\n#include <vector>\n"


@pytest.mark.parametrize("body", STEPS)
def test_a_known_form_is_a_call_of_cub(body: str) -> None:
    made = ported(f"{HEADERS}{HEAD} {{ {body} }}")
    assert made.parallel
    launch = made.start[made.start.index("void launch") :]
    assert f" {STEPS[body]}_by_cub" in launch.replace("*", " ").replace("(", " ")
    assert "cub/device/" in made.head


@pytest.mark.parametrize("body", LOOK_ALIKES)
def test_what_looks_alike_stays_as_it_is(body: str) -> None:
    made = ported(f"{HEADERS}{HEAD} {{ {body} }}")
    launch = made.start[made.start.index("void launch") :]
    assert "accumulate_by_cub" not in launch
    assert "sort_by_cub" not in launch


def test_where_rounding_must_be_equal_floats_are_added_in_their_order() -> None:
    code = f"{HEADERS}{HEAD} {{ std::partial_sum(x, x + n, y); }}"
    assert "scan_by_cub" in ported(code).start
    assert "scan_by_cub" not in ported(code, tolerance="exact").start


@pytest.mark.parametrize(
    "body",
    [
        body if number in (0, 4) else pytest.param(body, marks=pytest.mark.slow)
        for number, body in enumerate([*STEPS, *LOOK_ALIKES])
    ],
)
def test_a_start_with_cub_gives_what_the_serial_code_gives(tmp_path: Path, body: str) -> None:
    given = problem(f"{HEADERS}{HEAD} {{ {body} }}", X, {**Y, "role": "inout"}, N)
    sizes = given.sizes.model_copy(update={"check": ({"n": 1}, {"n": 2}, {"n": 3000})})
    given = given.model_copy(update={"sizes": sizes})
    made = port(given)
    assert isinstance(made, Port), made
    assert differences(given, made, tmp_path) == []
