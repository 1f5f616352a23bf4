"""A rule that reads a finished course ends it where the search itself would have ended."""

from benchmarks import recorded
from benchmarks.stopping import hindsight, judged, patience, recorded_course
from benchmarks.taught import head, world_of
from regraph_kg.models.method import SearchLimits
from regraph_kg.runs.choice import usual_settings
from regraph_kg.search import run
from regraph_kg.search.executor import Alone
from regraph_kg.search.stopping import PROMISE

CALLS, SHARE = 50, 0.3


def test_a_course_ends_where_the_search_does() -> None:
    course = recorded_course(("matmul", True, "mcgs", CALLS, 2))
    had = patience(SHARE, PROMISE)(course, CALLS)
    problem = recorded.problem("matmul")
    told = head(problem, usual_settings("mcgs"), CALLS, 2)
    told = told.model_copy(update={"limits": SearchLimits(calls=CALLS, patience=SHARE)})
    graph = recorded.graph("matmul", measured=True)
    world = world_of(problem, graph, 2, lambda candidate, _: problem.judge(candidate))
    records = list(run.search(problem.task, told, world, Alone(world)))
    assert had < len(course)
    assert records == [moment.record for moment in course[:had]]


def test_what_is_saved_and_kept_is_told_of_the_whole_course() -> None:
    course = recorded_course(("matmul", True, "mcgs", CALLS, 2))
    courses = {"matmul": [course]}
    whole = judged(courses, CALLS, lambda course, _: len(course))
    assert whole == {"saved": 0.0, "kept": 1.0, "least": 1.0}
    found = judged(courses, CALLS, hindsight)
    assert found["saved"] > 0.2
    assert 0.98 <= found["kept"] <= 1.0
