"""What was seen of loops while they ran gives threads to a CUDA start, and it stays right."""

from pathlib import Path

import pytest

from regraph_kg.evaluation.watch import with_seen
from regraph_kg.models.port import Port
from regraph_kg.port.port import port

from .emulated import differences
from .test_as_people_write import HEAD, threads
from .test_as_people_write import given as problem_of

GRID = """
class Grid {
public:
    Grid(float* all, int n) : all_(all), n_(n) {}
    void clear() { for (int i = 0; i < n_; ++i) all_[i] = 0; }
    void put(float v) { at(place(v)) += v; at(place(2 * v))--; }
private:
    int place(float v) { return (int)std::fabs(v * 10) % n_; }
    float& at(int i) { return all_[i]; }
    float* all_;
    int n_;
};
struct Turn {
    float by[2][2];
    float of(int i, float a, float b) const { return by[i][0] * a + by[i][1] * b; }
};
struct Band {
    float low, high;
    unsigned of(float v) const { return v < low ? ~0u : v > high ? 9 : (unsigned)(v - low); }
};
static Turn twice(const Turn& t) {
    Turn made;
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j) made.by[i][j] = t.of(i, t.by[0][j], t.by[1][j]);
    return made;
}
static void smooth(const float* from, float* to, float by, int n) {
    std::vector<float> own(n, by);
    for (int i = 1; i < n; ++i) own[i] = 0.5f * own[i - 1] + from[i];
    for (int i = 0; i < n; ++i) to[i] += own[n - 1 - i];
}
"""
SEEN = {
    "elements that a method adds to": "Grid grid(y, n); grid.clear();"
    " for (int i = 0; i < n; ++i) grid.put(x[i]);",
    "an object of numbers that is computed before": "Turn t = {};"
    " for (int i = 0; i < 2; ++i) t.by[i][i] = 1.5f; t.by[0][1] = x[0]; t.by[1][0] = 3;"
    " for (int i = 0; i < n; ++i) { Turn own = twice(t); for (int k = 0; k < 2; ++k)"
    " own.by[k][0] -= x[i]; y[i] = twice(own).of(i % 2, x[i], 2); }",
    "an object of numbers that a method reads": ""
    "const Band a{-3, 5}; const Band b{0, 7}; Turn t = {}; t.by[0][0] = a.low;"
    " for (int i = 0; i < n; ++i) y[i] = a.of(x[i]) % 7 + b.of(x[i]) % 5 + t.of(0, x[i], 2);",
    "rows as vectors": "const int w = n / 3; for (int r = 0; r < 3; ++r) {"
    " std::vector<float> row(x + (size_t)r * w, x + (size_t)(r + 1) * w), next(w);"
    " for (int s = 0; s < 4; ++s) {"
    " for (int i = 0; i < w; ++i) next[i] = std::max(row[i], 0.5f * row[(i + 1) % w]) + 1;"
    " std::swap(row, next); }"
    " std::copy(row.begin(), row.end(), y + (size_t)r * w); }",
    "the least of three": "for (int i = 1; i + 1 < n; ++i) {"
    " y[i] = std::min({x[i - 1], x[i], x[i + 1]}) + std::max(x[i], 1.f); }",
    "a helper with a vector, which adds to what others add to": ""
    "for (int k = 0; k < 9; ++k) smooth(x, y, x[k % n], n);",
}


@pytest.mark.parametrize("name", SEEN)
def test_what_was_seen_gives_threads_which_compute_the_same(tmp_path: Path, name: str) -> None:
    given = problem_of(SEEN[name])
    code = given.serial_code.replace(HEAD, f"{GRID}{HEAD}")
    given = given.model_copy(update={"serial_code": code})
    seen = given.model_copy(update={"serial_code": with_seen(tmp_path, given)})
    made = port(seen)
    assert isinstance(made, Port)
    assert made.parallel
    assert differences(given, made, tmp_path) == []


@pytest.mark.parametrize(
    "effect",
    [
        "--n_;",
        "int& r = n_; r = 1;",
        "int* r = &n_; *r = 1;",
        "this->n_ = 1;",
        "*this = Grid(all_, 1);",
        "std::swap(n_, n_);",
        "const_cast<Grid*>(this)->n_ = 1;",
        "all_ += 1;",
        "(n_) = 1;",
    ],
)
def test_an_object_whose_fields_a_method_may_set_is_not_made_anew(
    tmp_path: Path, effect: str
) -> None:
    code = problem_of(SEEN["elements that a method adds to"]).serial_code
    code = code.replace(HEAD, f"{GRID}{HEAD}").replace(
        "void clear() {", f"void clear() {{ {effect}"
    )
    given = problem_of("").model_copy(update={"serial_code": code})
    made = port(given.model_copy(update={"serial_code": with_seen(tmp_path, given)}))
    assert not threads(made)


def test_sums_that_must_be_exact_are_added_up_in_their_order(tmp_path: Path) -> None:
    given = problem_of(SEEN["elements that a method adds to"])
    code = given.serial_code.replace(HEAD, f"{GRID}{HEAD}")
    given = given.model_copy(update={"serial_code": code, "tolerance": "exact"})
    made = port(given.model_copy(update={"serial_code": with_seen(tmp_path, given)}))
    assert not threads(made)


def test_what_is_taken_away_is_no_large_unsigned_number(tmp_path: Path) -> None:
    given = problem_of(
        "std::vector<int> own(3);"
        " const auto at = [&](int i) -> float& { return y[i % 3]; };"
        " for (int i = 0; i < n; ++i) { if (x[i] > 9) own[0] = 1; at(i) -= own.size(); }"
    )
    seen = given.model_copy(update={"serial_code": with_seen(tmp_path, given)})
    made = port(seen)
    assert isinstance(made, Port)
    assert differences(given, made, tmp_path) == []
