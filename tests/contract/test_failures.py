"""Contract: what a search may be warned of before it tries a transition."""

from dataclasses import replace

from regraph_kg.backends.store import GraphStore
from regraph_kg.models.evaluation import Outcome
from regraph_kg.models.graph import KnownFailure, MergePlan
from tests.contract.plans import failure, measured, plan


def merged_at(source: MergePlan, created: str) -> MergePlan:
    return replace(source, created=created)


def diagnoses(store: GraphStore, **asked: object) -> list[str]:
    found = store.failures("cuda/a", "cuda/b", **asked)  # type: ignore[arg-type]
    return [one.diagnosis for one in found]


def test_a_failure_says_how_it_failed_on_what_with_what_and_whose_it_was(
    store: GraphStore,
) -> None:
    failed = failure("b", outcome=Outcome.WRONG_ANSWER, diagnosis="y[0] is 3", code="int bad;")
    store.merge([plan("a", model="small", failures=[failed])])
    assert store.failures("cuda/a", "cuda/b") == (
        KnownFailure(
            Outcome.WRONG_ANSWER,
            "y[0] is 3",
            before="int x; // after 0 a",
            code="int bad;",
            problem="saxpy",
            model="small",
        ),
    )


def tried_on(store: GraphStore, source: str, target: str) -> list[str]:
    return [failure.before for failure in store.failures(source, target)]


def test_the_code_that_a_failure_was_tried_on_is_known(store: GraphStore) -> None:
    """Also that of the serial code, and of two failures after one step."""
    failures = [
        *(failure("c", after=0), failure("c", after=2, diagnosis="one")),
        failure("c", after=2, diagnosis="two"),
    ]
    store.merge([plan("ab", code="int y;", failures=failures)])
    store.merge([plan("ab", code="int better;", measurements=[measured()])])
    assert tried_on(store, "cuda/start", "cuda/c") == ["int y; // serial"]
    assert tried_on(store, "cuda/b", "cuda/c") == 2 * ["int y; // after 1 b"]


def test_a_transition_that_never_failed_or_got_no_code_has_no_failures(store: GraphStore) -> None:
    no_code = failure("b", outcome=Outcome.PARSE_FAILED)
    store.merge([plan("ab", failures=[failure("b", after=0), no_code])])
    assert store.failures("cuda/a", "cuda/b") == ()
    assert store.failures("cuda/nowhere", "cuda/b") == ()


def test_what_teaches_most_comes_first_and_the_limit_holds(store: GraphStore) -> None:
    mute = failure("b", outcome=Outcome.TIMED_OUT, diagnosis="", code="int mute;")
    bare = failure("b", diagnosis="without code")
    old, new = (failure("b", diagnosis=said, code=f"int {said};") for said in ("old", "new"))
    store.merge([merged_at(plan("a", code="1", failures=[new]), "2026-11-21T00:00:00+00:00")])
    store.merge([merged_at(plan("a", code="2", failures=[old]), "2026-11-20T00:00:00+00:00")])
    store.merge(
        [merged_at(plan("a", code="3", failures=[mute, bare]), "2026-11-22T00:00:00+00:00")]
    )
    assert diagnoses(store, limit=9) == ["new", "old", "without code", ""]
    assert diagnoses(store) == ["new", "old", "without code"]


def test_one_problems_failures_that_say_the_same_are_told_once_with_the_newest_code(
    store: GraphStore,
) -> None:
    for day in (20, 22, 21):
        failed = [failure("b", diagnosis="signal 11", code=f"int x{day};", code_hash=str(day))]
        source = plan("a", code=str(day), failures=failed)
        store.merge([merged_at(source, f"2026-11-{day}T00:00:00+00:00")])
    assert [failure.code for failure in store.failures("cuda/a", "cuda/b")] == ["int x22;"]
    store.merge([plan("a", problem="sum", failures=[failure("b", diagnosis="signal 11")])])
    assert {failure.problem for failure in store.failures("cuda/a", "cuda/b")} == {"saxpy", "sum"}
