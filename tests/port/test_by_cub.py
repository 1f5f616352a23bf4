"""Scans, sorts, kept elements and best values become calls of CUB, and look-alikes do not."""

from pathlib import Path

import pytest

from regraph_kg.models.port import Port
from regraph_kg.port.port import port

from .emulated import differences
from .test_port import HEAD, N, X, Y, ported, problem

KEPT = "int m = 0; for (int i = 0; i < n; ++i) { %s } for (int i = m; i < n; ++i) y[i] = 0;"
BEST = "%s for (int i = 0; i < n; ++i) y[i] = best + 10 * at;"
STEPS = {  # a body -> the function that it calls
    "float s = 0; for (int i = 0; i < n; ++i) { s += x[i]; y[i] = s; }": "scan",
    "float s = 1; for (int i = 0; i < n; ++i) { y[i] = s; s = x[i] + s; }": "scan",
    "double s = 0; for (long j = 0; j < n; ++j) y[j] = s += x[j] * 2;": "scan",
    "int i; float s; s = 0; for (i = 0; i < n; i++) { s -= x[i]; y[i] = s; }": "scan",
    "unsigned c = 0; for (int i = 0; i < n; ++i) { if (x[i] > 0) ++c; y[i] = c; }": "scan",
    "float m = x[0]; for (int i = 1; i < n; ++i) { m = std::max(m, x[i]); y[i] = m; } y[0] = m;": (
        "scan"
    ),
    "float m = 9; for (int i = 0; i < n; ++i) { if (x[i] < m) m = x[i]; y[i] = x[i] - m; }": "scan",
    "float a = 0, b = -9; for (int i = 0; i < n; ++i) { a += x[i]; b = std::fmax(b, a);"
    " y[i] = b - a; }": "scan",
    "float m = 0, d = 0; for (int i = 0; i < n; ++i) { m = std::max(m, x[i]);"
    " d = std::max(d, m - x[i]); } for (int i = 0; i < n; ++i) y[i] = d;": "scan",
    "y[0] = x[0]; for (int i = 1; i < n; ++i) y[i] = y[i - 1] + x[i];": "scan",
    "for (int i = 0; i < n; ++i) y[i] = x[i];"
    " for (int i = 1; i < n; ++i) y[i] += y[i - 1];": "scan",
    "float s = 0; for (int i = 0; i < n; ++i) { float t = 0; for (int j = 0; j <= i % 3; ++j)"
    " t += x[i - j]; s += t; y[i] = s; }": "scan",
    KEPT % "if (x[i] > 0.2f) y[m++] = x[i];": "scan",
    KEPT % "if (x[i] <= 0.2f) continue; const float v = 2 * x[i]; y[m] = v; ++m;": "scan",
    KEPT % "if (i % 2 == 0) { if (x[i] > 0) { y[m] = i; m++; } else y[m++] = -x[i]; }": "scan",
    "int k = -1; for (int i = 0; i < n; ++i) y[i] = 0; for (int i = 0; i < n; ++i) if (x[i] > 0)"
    " y[++k] = x[i];": "scan",
    "std::partial_sum(x, x + n, y);": "partial_sum",
    "std::exclusive_scan(x, x + n, y, 1.5f);": "exclusive_scan",
    "const double s = std::accumulate(x, x + n, 0.0) / n; for (int i = 0; i < n; ++i) y[i] = s;": (
        "accumulate"
    ),
    "std::copy(x, x + n, y); std::sort(y, y + n);": "sort",
    "std::copy(x, x + n, y); std::sort(y, y + n, std::greater<float>());": "sort",
    "std::vector<double> t(x, x + n); std::stable_sort(t.begin(), t.end(), [](double a, double b) {"
    " return a > b; }); for (int i = 0; i < n; ++i) y[i] = t[i];": "sort",
    "std::vector<int> key(n), order(n); for (int i = 0; i < n; ++i) key[i] = (int)(4 * x[i]);"
    " std::iota(order.begin(), order.end(), 0); std::stable_sort(order.begin(), order.end(),"
    " [&key](int a, int b) { return key[a] > key[b]; }); for (int i = 0; i < n; ++i)"
    " y[i] = x[order[i]];": "sort",
    BEST % "const int at = std::max_element(x, x + n) - x; const float best = x[at];": (
        "max_element"
    ),
}
LOOK_ALIKES = [
    "float s = 0; for (int i = 0; i < n; ++i) { s = 0.5f * s + x[i]; y[i] = s; }",
    "float s = 0; for (int i = 0; i < n; ++i) { s += x[i]; if (x[i] < 0) s = 0; y[i] = s; }",
    "float s = 0; for (int i = 0; i < n; ++i) { s += x[i]; if (s < 0) s = 0; y[i] = s; }",
    "float s = 0; for (int i = 0; i < n; ++i) { s = std::max(s + x[i], 0.0f); y[i] = s; }",
    "int s = 0; for (int i = 0; i < n; ++i) { s += 3 * x[i]; y[i] = s; }",
    "float s = 0; for (int i = 0; i < n; ++i) { s += x[i]; if (s > 9) break; y[i] = s; }",
    "float s = 0; for (int i = 0; i < n; ++i) { x[i] > 0 && (s += x[i]); y[i] = s; }",
    "float s = 0; for (int i = 0; i < n; ++i) { y[i] = s; s += y[i / 2]; }",
    "for (int i = 2; i < n; ++i) y[i] = y[i - 1] + y[i - 2];",
    "for (int i = 1; i < n; ++i) if (x[i] > 0) y[i] = y[i - 1] + x[i];",
    "for (int i = 1; i < n; ++i) { y[i] = y[i - 1] + x[i]; if (x[i] < 0) y[i] = 0; }",
    KEPT % "if (x[i] > 0 && m < 10) y[m++] = x[i];",
    KEPT % "if (m == 0 || x[i] > y[m - 1]) y[m++] = x[i];",
    KEPT % "y[m] = x[i]; if (x[i] > 0) m++;",
    KEPT % "if (x[i] > 0) y[m++] = x[i]; else y[n - 1 - i] = 1;",
    "int a = 0, b = n; for (int i = 0; i < n; ++i) if (x[i] > 0) y[a++] = x[i]; else y[--b] = 1;",
    BEST % "float best = 9; int at = 0; float z = 0; for (int i = 0; i < n; ++i) { if (x[i] < best)"
    " { best = x[i]; at = i; } z += best; } y[0] = z;",
    BEST % "float best = 9; int at = 0; for (int i = 0; i < n; ++i) if (x[i] < best) { best = x[i];"
    " at = at + i; }",
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
    assert not {"scan_by_cub", "sort_by_cub"} & {*launch.replace("(", " ").split()}
    assert "<<<1, 1>>>" in launch


def test_where_rounding_must_be_equal_only_whole_numbers_are_added_in_another_order() -> None:
    body = "%s s = 0; for (int i = 0; i < n; ++i) { s += (%s)x[i]; y[i] = s; }"
    for kind, found in (("float", False), ("int", True)):
        code = f"{HEAD} {{ {body % (kind, kind)} }}"
        assert ("scan_by_cub" in ported(code, tolerance="exact").start) == found
        assert "scan_by_cub" in ported(code).start


@pytest.mark.parametrize(
    "body",
    [
        body if number in (0, 12) else pytest.param(body, marks=pytest.mark.slow)
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
