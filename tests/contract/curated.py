"""What the curation tests look at: plans, and all that a graph says."""

from dataclasses import replace

from regraph_kg.graph import GraphStore
from regraph_kg.models.curation import Note
from regraph_kg.models.graph import MergePlan
from tests.contract.plans import A100, failure, measured, plan, technique

ME = Note("curator @ desk", "because")


def relabelled(source: MergePlan, to: str) -> MergePlan:
    """A plan whose every label was resolved to one technique."""
    failures = [
        failure.model_copy(update={"technique": to}) for failure in source.trajectory.failures
    ]
    return MergePlan(
        source.trajectory.model_copy(update={"failures": tuple(failures)}),
        tuple(replace(label, technique=to, stage="alias") for label in source.labels),
        new=(technique(to.partition("/")[2]),),
    )


def some_plans() -> list[MergePlan]:
    """Paths over a, b, c with loops, two devices, failures of and after each."""
    return [
        plan("abc", measurements=[measured(effect=2.0), measured(A100, effect=4.0)]),
        plan("bab", problem="sum", failures=[failure("b", 1), failure("c", 2), failure("a", 0)]),
        plan("aab", problem="dot", measurements=[measured(effect=8.0)], failures=[failure("b", 3)]),
        plan("cc", problem="max", measurements=[measured(A100, effect=None)]),
        plan("bbb", problem="min", measurements=[measured(effect=16.0)]),
    ]


def totals(store: GraphStore) -> dict[str, object]:
    """What no curation may change: examples, trials, sums, over all pairs; every example's text."""
    found: dict[str, object] = {}
    rows = store.transitions()
    for name in ("examples", "tried", "verified", "verified_first", "sum_log2_effect"):
        found[name] = sum(getattr(row, name) for row in rows)
    found["failed"] = sorted(item for row in rows for item in row.failed.items())
    found["best"] = max((row.best_effect or 0.0 for row in rows), default=None)
    found["steps"] = [
        (step.label, step.code, step.measurements)
        for trajectory in store.export()
        for step in trajectory.steps
    ]
    found["failures"] = [
        failed.model_copy(update={"technique": None})
        for trajectory in store.export()
        for failed in trajectory.failures
    ]
    found["failed"] = sum(count for row in rows for count in row.failed.values())
    return found


def everything(store: GraphStore) -> tuple[object, ...]:
    """All that is to be told from the store but the log."""
    examples = [
        store.examples(row.source, row.target, limit=1000)
        for row in store.transitions()
        if row.examples
    ]
    return store.techniques(), store.transitions(), tuple(store.export()), examples, store.stats()


def sound(store: GraphStore) -> bool:
    """Whether statistics and examples are those that the trajectories say."""
    assert store.check() == ()
    return True


def paths(store: GraphStore) -> list[str]:
    """Every trajectory's techniques, by problem."""
    return [
        f"{one.problem} " + "".join((step.technique or "?").split("/")[1] for step in one.steps)
        for one in sorted(store.export(), key=lambda trajectory: trajectory.problem)
    ]


def mixed(store: GraphStore) -> None:
    """cuda/a with steps called Label a, Label b and Label c, the latter two its aliases."""
    store.add_techniques([technique("a", aliases=("Label b", "label C"))])
    store.merge([relabelled(plan, "cuda/a") for plan in some_plans()])
