"""Plans of several pairs and devices, and all that a graph says."""

from regraph_kg.graph import GraphStore
from regraph_kg.models.graph import MergePlan
from tests.contract.plans import A100, failure, measured, plan


def some_plans() -> list[MergePlan]:
    """Paths over a, b, c with loops, two devices, failures of and after each."""
    return [
        plan("abc", measurements=[measured(effect=2.0), measured(A100, effect=4.0)]),
        plan("bab", problem="sum", failures=[failure("b", 1), failure("c", 2), failure("a", 0)]),
        plan("aab", problem="dot", measurements=[measured(effect=8.0)], failures=[failure("b", 3)]),
        plan("cc", problem="max", measurements=[measured(A100, effect=None)]),
        plan("bbb", problem="min", measurements=[measured(effect=16.0)]),
    ]


def everything(store: GraphStore) -> tuple[object, ...]:
    """All that is to be told from the store."""
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
