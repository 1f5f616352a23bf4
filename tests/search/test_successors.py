"""What is offered at a code: what cannot apply is not, and serial code is offered enough."""

from dataclasses import replace

import pytest

from regraph_kg.models.graph import Neighbourhood, Successor
from regraph_kg.runs.choice import usual_settings
from regraph_kg.search.methods import METHODS, kind_of
from regraph_kg.search.successors import ENOUGH, Offer, Successors
from tests.search.toy import (
    SERIAL,
    Graph,
    Toy,
    code,
    fenced,
    header,
    names,
    searching,
    successor,
)

START = "openmp/start"
WALKS = [name for name in METHODS if kind_of(name).walks]


def needing(name: str, *needs: str, **known: float) -> Successor:
    """A technique with `needs`, and what is known of it."""
    found = successor(name, **known)  # type: ignore[arg-type]
    return replace(found, technique=found.technique.model_copy(update={"needs": needs}))


def offered(
    known: list[Successor], pooled: list[Successor], text: str = SERIAL, after: str = START
) -> tuple[list[str], list[str]]:
    """Short names of what is offered, and of what is left out."""
    graph = Successors(lambda name: Neighbourhood(name, tuple(known)), lambda: tuple(pooled), START)
    found = graph.after(after, text)
    return short(found.fitting), short(found.unfit)


def short(offers: tuple[Offer, ...]) -> list[str]:
    return [offer.successor.technique.id.removeprefix("openmp/") for offer in offers]


def test_what_cannot_apply_is_left_out_and_what_is_not_known_to_fit_stays() -> None:
    known = [needing("a", "loop"), needing("b", "nest"), needing("c", "no such predicate")]
    assert offered(known, []) == (["a", "c"], ["b"])


CLEARED = "void f(float* x, int n) { for (int i = 0; i < n; ++i) x[i] = 0; }"


def clearing(name: str, what: str) -> dict[str, tuple[str, ...]]:
    """A transform that writes another value where a code writes `what`."""
    text = f'''technique = "openmp/{name}"
name = "other"
says = "Another value."
match = "$x = {what};"
becomes = "$x = 1;"'''
    return {f"openmp/{name}": (text,)}


def test_a_small_model_is_not_asked_for_what_a_transform_does_elsewhere() -> None:
    known = Neighbourhood(START, (successor("a"), successor("b"), successor("c")))
    told = clearing("a", "0") | clearing("b", "2")
    for small, unfit in ((True, ["b"]), (False, [])):
        graph = Successors(lambda _: known, tuple, START, small=small, transforms=told)
        offers = graph.after(START, CLEARED)
        assert short(offers.unfit) == unfit
        assert {"a", "c"} <= {*short(offers.fitting)}


def test_a_step_is_offered_again_where_another_place_is_left() -> None:
    again = Successors(
        lambda name: Neighbourhood(name, ()),
        lambda: (needing("a", "loop", tried=1, verified=1),),
        START,
        small=True,
        transforms=clearing("a", "0"),
    )
    assert short(again.after("openmp/a", CLEARED).fitting) == ["a"]
    assert short(again.after("openmp/a", CLEARED.replace("= 0;", "= 1;", 2)).fitting) == []


def test_serial_code_that_few_fit_is_offered_what_gained_most_elsewhere() -> None:
    known = [needing("a", "loop"), needing("b", "nest")]
    pooled = [
        needing("a", "loop", tried=9, verified=9, log2_effects=9.0),
        needing("little", "loop", tried=4, verified=4, log2_effects=1.0),
        needing("much", "loop", tried=4, verified=4, log2_effects=8.0),
        needing("impossible", "nest", tried=4, verified=4, log2_effects=9.0),
        needing("unknown", "no such predicate", tried=4, verified=4, log2_effects=9.0),
    ]
    assert offered(known, pooled) == (["a", "much", "little"], ["b"])
    assert offered(known, pooled, after="openmp/a") == (["a"], ["b"])
    assert offered([], pooled) == ([], [])


def test_what_nobody_tried_comes_before_what_loses_and_only_where_it_says_what_it_needs() -> None:
    untried = [replace(one, examples=0) for one in (needing("x", "loop"), needing("y"))]
    worse = needing("worse", "loop", tried=4, verified=4, log2_effects=-4.0)
    assert offered([needing("b", "nest")], [*untried, worse])[0] == ["x", "worse"]


def test_no_more_are_offered_than_are_enough() -> None:
    known = [needing(f"k{n}", "loop") for n in range(ENOUGH - 1)]
    pooled = [needing(f"p{n}", "loop") for n in range(3)]
    assert offered(known, pooled)[0] == ["k0", "k1", "k2", "p0"]
    many = [needing(f"k{n}", "loop") for n in range(ENOUGH)]
    assert offered(many, pooled)[0] == [f"k{n}" for n in range(ENOUGH)]


def test_what_is_only_claimed_is_offered_where_nothing_else_fits() -> None:
    claimed = (needing("a", "loop"), needing("b", "nest"), needing("c", "loop"))
    found = [
        Successors(
            lambda name, known=known: Neighbourhood(name, known, claimed),  # type: ignore[misc]
            lambda: (needing("c", "loop", tried=2, verified=2),),
            START,
        ).after(START, SERIAL)
        for known in ((), (needing("d", "loop"),))
    ]
    assert [short(one.fitting) for one in found] == [[], ["d", "c"]]
    assert [short(one.claimed) for one in found] == [["a", "c"], ["a"]]


@pytest.mark.parametrize("method", WALKS)
def test_a_search_is_the_same_beside_claims(method: str) -> None:
    def script(key: object) -> str:
        return fenced(code(0.1 * len(str(key)) % 1, key))

    def steps(graph: Graph, claimed: tuple[Successor, ...] = ()) -> list[object]:
        toy = Toy(graph, script)
        plain = toy.neighbours
        toy.neighbours = lambda name: replace(plain(name), claimed=claimed)  # type: ignore[method-assign]
        records = searching(toy.world, header(settings=usual_settings(method)))
        return [step.technique for record in records for step in record.steps]

    known: Graph = {"start": ["a", "b"], "a": ["b"], "b": ["a"]}
    claimed = (successor("c"),)
    assert steps(known, claimed) == steps(known)
    assert "openmp/c" in steps({"start": []}, claimed)


GRAPH: Graph = {"start": ["nested", "flat"], "flat": ["nested", "other"], "other": ["flat"]}
SEEN = {"nested": needing("nested", "nest"), "flat": needing("flat", "loop")}
ELSEWHERE = replace(needing("elsewhere", "loop", tried=3, verified=3), after="openmp/flat")


@pytest.mark.parametrize("method", WALKS)
def test_every_method_asks_for_what_was_seen_elsewhere_and_for_nothing_that_cannot_apply(
    method: str,
) -> None:
    toy = Toy(GRAPH, lambda key: fenced(looping(len(key.path), key.attempt)), successors=SEEN)
    world = replace(toy.world, pooled=lambda: (ELSEWHERE,))
    list(searching(world, header(40, settings=usual_settings(method))))
    assert any(names(key) == ["elsewhere"] for key in toy.asked)
    asked = {name for key in toy.asked for name in names(key)}
    assert "nested" not in asked


def looping(steps: int, attempt: int) -> str:
    """Right code with a loop, the faster the more steps it took."""
    loop = "for (int i = 0; i < n; ++i) x[i] *= 2;"
    return code(0.1 * steps, (steps, attempt)).replace("{ said", f"{{ {loop} said")
