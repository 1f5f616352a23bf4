"""Steps with reasonings, and a small graph of them."""

from collections.abc import Sequence

from regraph_kg.backends.store import GraphStore
from regraph_kg.models.graph import MergePlan
from regraph_kg.models.trajectory import Step
from tests.contract.plans import measured, plan


def reasoned(path: str, reasonings: Sequence[str], **fields: object) -> MergePlan:
    """A plan whose steps have these reasonings."""
    given = fields.pop("measurements", ())
    code = fields.pop("code", "")
    steps = tuple(
        Step(
            label=f"Label {name}", reasoning=why, code=f"{code} {why} {number}", measurements=given
        )
        for number, (name, why) in enumerate(zip(path, reasonings, strict=True))
    )
    return plan(path, steps=steps, **fields)  # type: ignore[arg-type]


def embed(store: GraphStore) -> list[tuple[int, int]]:
    return list(store.embed())


def small_graph(store: GraphStore) -> None:
    """A graph with four examples of one transition and one of another."""
    store.merge(
        [
            reasoned("a", ["registers hold sums"], problem="saxpy"),
            reasoned("ab", ["vectors are loaded", "registers hold sums"], problem="scan"),
            reasoned("a", ["blocks wait"], problem="scan", measurements=[measured()]),
            reasoned("a", ["registers hold vectors"], problem="sort"),
        ]
    )
