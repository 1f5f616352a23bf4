"""Macros are written out as the compiler does it."""

import pytest

from regraph_kg.cpp.macros import written_out


@pytest.mark.parametrize(
    ("code", "made"),
    [
        (
            "#define AT(i, j) a[(i) * n + (j)]\nAT(j, k) = AT(i, j);",
            "a[(j) * n + (k)] = a[(i) * n + (j)];",
        ),
        ("#define SWAP(a, b) t = a; a = b; b = t;\nSWAP(b, a)", "t = b; b = a; a = t;"),
        ("#define F(x) g(x + y)\n#define G(y, x) F(y) - x\nG(x, 1);", "g(x + y) - 1;"),
    ],
)
def test_parameters_are_replaced_all_at_once(code: str, made: str) -> None:
    assert written_out(code)[0].splitlines()[-1] == made
