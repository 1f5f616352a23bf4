"""Races that are brought about by held-up threads, teams of other sizes, and what is no race."""

from collections.abc import Callable

import pytest

from regraph_kg.evaluation.problem.problem import Problem
from regraph_kg.evaluation.teams import has_threads
from regraph_kg.models.evaluation import Outcome

from .conftest import problem_named, scale_source
from .desk import Desk

RIGHT = "for (int i = 0; i < n; ++i) y[i] = a * x[i];"
THREADS = "#include <omp.h>\n"
ADDED = """extern "C" void total(const float* x, float* s, long long n) {
  double sum = 0;
#pragma omp parallel
  {
    double own = 0;
#pragma omp for
    for (long long i = 0; i < n; ++i) own += x[i];
%s
    sum += own;
  }
  s[0] = sum;
}"""

OWN_PARTS = """
#pragma omp parallel
{
  const int t = omp_get_thread_num(), all = omp_get_num_threads();
  if (t < room)
    for (int i = (long long)t * n / all; i < (long long)(t + 1) * n / all; ++i) y[i] = a * x[i];
}"""
LARGE_ONLY = """extern "C" void total(const float* x, float* s, long long n) {
  double sum = 0;
  if (n < 1 << 20) {
    for (long long i = 0; i < n; ++i) sum += x[i];
  } else {
#pragma omp parallel
    {
      double own = 0;
#pragma omp for nowait
      for (long long i = 0; i < n; ++i) own += x[i];
%s
      sum += own;
    }
  }
  s[0] = sum;
}"""
IN_BLOCKS = """
int i, k;
#pragma omp parallel for private(%s)
for (i = 0; i < n; i += 16)
  for (k = i; k < i + 16 && k < n; ++k) {
    t = a * x[k];
    y[k] = t;
  }"""


SAME_VALUE = """
int half = 0;
#pragma omp parallel
{
  half = n / 2;
#pragma omp for
  %s
}
if (half != n / 2) y[0] = 0;"""
CHECKED_TWICE = """
float top = x[0];
#pragma omp parallel for
for (int i = 0; i < n; ++i)
  if (x[i] > top) {
#pragma omp critical
    if (x[i] > top) top = x[i];
  }
for (int i = 0; i < n; ++i) if (x[i] > top) y[0] = 0;
%s"""


def test_a_lost_update_is_brought_about(desks: Callable[..., Desk]) -> None:
    desk = desks(problem_named("total"))
    failure = desk.races(ADDED % "")
    assert failure is not None
    assert failure.outcome is Outcome.NONDETERMINISTIC
    assert "threads, held up at random" in failure.diagnosis
    assert desk.races(ADDED % "#pragma omp atomic") is None


@pytest.mark.parametrize("threads", [1, 2, 3, 5])
def test_a_team_of_another_size_is_tried(desks: Callable[..., Desk], threads: int) -> None:
    body = f"#pragma omp parallel\nif (omp_get_num_threads() == {threads}) n = 0;\n{RIGHT}"
    failure = desks(problem_named("scale")).races(scale_source(body, THREADS), "screening")
    assert failure is not None
    assert "never written" in failure.diagnosis


def test_a_team_may_grow_from_call_to_call(desks: Callable[..., Desk]) -> None:
    body = f"static const int room = omp_get_max_threads();\n{OWN_PARTS}"
    failure = desks(problem_named("scale")).races(scale_source(body, THREADS))
    assert failure is not None
    assert "never written" in failure.diagnosis
    right = scale_source(f"const int room = omp_get_max_threads();\n{OWN_PARTS}", THREADS)
    assert desks(problem_named("scale")).races(right) is None


def test_fewer_threads_may_come_than_are_asked_for(desks: Callable[..., Desk]) -> None:
    body = """
#pragma omp parallel num_threads(4)
{
  const int t = omp_get_thread_num();
  for (int i = t * n / 4; i < (t + 1) * n / 4; ++i) y[i] = a * x[i];
}"""
    failure = desks(problem_named("scale")).races(scale_source(body, THREADS))
    assert failure is not None
    assert "with 2 threads, held up at random (it asked for 4)" in failure.diagnosis


def test_threads_are_known_by_the_source() -> None:
    assert not has_threads(scale_source(RIGHT))
    assert has_threads(scale_source(f"#pragma omp parallel for\n{RIGHT}"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("before", "private", "is_right"),
    [
        ("float t;", "k, t", True),
        ("float t;", "k", False),
        ("float t;", "t", False),
        ("static float t;", "k", False),
    ],
)
def test_a_missing_private_is_found(
    desks: Callable[..., Desk], before: str, private: str, is_right: bool
) -> None:
    code = scale_source(f"{before}{IN_BLOCKS % private}", '#pragma GCC optimize("O3")')
    failure = desks(problem_named("scale")).races(code, "screening")
    assert (failure is None) == is_right


@pytest.fixture
def long_total() -> Problem:
    problem = problem_named("total")
    sizes = problem.sizes.model_copy(update={"time": {"n": 2_000_000}})
    return problem.model_copy(update={"sizes": sizes})


@pytest.mark.slow
def test_a_race_in_long_arrays_alone_is_found(
    desks: Callable[..., Desk], long_total: Problem
) -> None:
    desk = desks(long_total)
    assert desk.fault(LARGE_ONLY % "#pragma omp atomic") is None
    assert desk.races(LARGE_ONLY % "#pragma omp atomic") is None
    assert desk.races(LARGE_ONLY % "") is not None


@pytest.mark.slow
@pytest.mark.parametrize(
    "body",
    [
        SAME_VALUE,
        "int any = 0;\n#pragma omp parallel for\nfor (int i = 0; i < n; ++i) any = 1;\nif (any) %s",
        CHECKED_TWICE,
    ],
)
def test_a_race_without_consequence_accuses_nobody(desks: Callable[..., Desk], body: str) -> None:
    assert desks(problem_named("scale")).races(scale_source(body % RIGHT)) is None
