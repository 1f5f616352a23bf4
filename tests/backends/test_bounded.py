"""Which examples of a pair stay: hand-made tables, and properties over random ones."""

import random

import pytest

from regraph_kg.backends.bounded import POOL, Mark, Selection, choose, exact, learned_places, limit


def mark(
    name: str,
    problem: str = "p",
    effect: float | None = None,
    on: str = "",
    learner: str | None = None,
) -> Mark:
    """Verified on the devices `on` (a letter each)."""
    return Mark(name, problem, dict.fromkeys(on, effect or 0.0), learner)


def test_all_stay_while_there_is_room() -> None:
    assert choose([mark("a"), mark("b")], 2) == {"a", "b"}


def test_verified_before_unverified_then_by_effect() -> None:
    marks = [mark("no"), mark("slow", effect=1.0, on="A"), mark("fast", effect=3.0, on="A")]
    assert choose(marks, 2) == {"slow", "fast"}
    assert choose(marks, 1) == {"fast"}


def test_every_device_keeps_its_best() -> None:
    """B's effects are all smaller than A's."""
    marks = [mark(f"a{n}", effect=10.0 + n, on="A") for n in range(20)]
    marks += [mark(f"b{n}", effect=1.0 + n / 100, on="B") for n in range(20)]
    assert {"a19", "a18", "b19", "b18"} <= choose(marks, 8)


@pytest.mark.parametrize("devices", ["ABCDEF", "ABCDEFGH"])
def test_every_device_keeps_its_best_where_half_of_the_places_are_too_few(devices: str) -> None:
    marks = [
        mark(f"{device}{n}", effect=place + n / 100, on=device)
        for place, device in enumerate(devices, 1)
        for n in range(9)
    ]
    assert {f"{device}8" for device in devices} <= choose(marks, 8)


def test_half_of_the_places_go_to_the_problems_in_turn() -> None:
    many = [mark(f"many{n}", "many", 10.0 + n, "A") for n in range(50)]
    few = [mark(f"few{n}", f"few{n}", 1.0, "A") for n in range(4)]
    kept = choose([*many, *few], 10)
    assert {"few0", "few1", "few2", "few3"} <= kept
    assert {f"many{n}" for n in range(45, 50)} <= kept


def test_of_unverified_ones_no_problem_takes_more_than_its_turn() -> None:
    marks = [mark(f"x{n}", "x") for n in range(50)] + [mark("y", "y"), mark("z", "z")]
    assert {"y", "z"} <= choose(marks, 4)


@pytest.mark.parametrize("seed", range(20))
def test_the_choice_depends_on_the_set_and_not_on_its_order(seed: int) -> None:
    rng = random.Random(seed)
    marks = crowd(rng, 200)
    chosen = choose(marks, 32)
    assert len(chosen) == 32
    rng.shuffle(marks)
    assert choose(marks, 32) == chosen
    best = min(marks, key=lambda mark: mark.rank)
    assert best.id in chosen


@pytest.mark.parametrize("seed", range(20))
def test_examples_that_come_one_by_one_keep_the_best_of_every_device_and_every_problem(
    seed: int,
) -> None:
    """What the store does: prune at a quarter above the bound."""
    rng, bound = random.Random(seed), 32
    marks, kept = crowd(rng, 500), list[Mark]()
    for mark in marks:
        kept.append(mark)
        if len(kept) > limit(bound):
            chosen = choose(kept, bound)
            kept = [one for one in kept if one.id in chosen]
    names = {one.id for one in kept}
    for device in "AB":
        on = sorted((m for m in marks if device in m.effects), key=lambda m: m.on(device))
        assert {m.id for m in on[: exact(bound)]} <= names
    assert {m.problem for m in kept} == {m.problem for m in marks}


@pytest.mark.parametrize("size", [50, 2_000])
def test_a_selection_keeps_the_best_of_any_number(size: int) -> None:
    marks, selection = crowd(random.Random(size), size), Selection(8)
    for mark in marks:
        selection.add(mark)
        assert len(selection.stay) <= POOL * limit(8)
    selection.cut()
    for device in "AB":
        best = min((m for m in marks if device in m.effects), key=lambda m: m.on(device))
        assert best in selection.stay
    if size <= POOL * limit(8):
        assert {m.id for m in selection.stay} == choose(marks, 8)


def crowd(rng: random.Random, size: int) -> list[Mark]:
    marks = []
    for n in range(size):
        on = rng.choice(["", "A", "B", "AB"])
        effect = rng.lognormvariate(0, 1) if on else None
        learner = rng.choice([None, "m", "n"])
        marks.append(mark(f"{n:03}", f"problem {rng.randrange(6)}", effect, on, learner))
    return marks


def test_what_was_given_stays_before_what_was_learned_whatever_it_gained() -> None:
    marks = [mark(f"learned{n}", effect=9.0, on="A", learner="m") for n in range(3)]
    marks += [mark(f"given{n}", effect=1.0, on="A") for n in range(3)]
    assert choose(marks, 3) == {"given0", "given1", "given2"}
    unverified = [mark("given"), mark("learned", effect=1.0, on="A", learner="m")]
    assert choose(unverified, 1) == {"learned"}


@pytest.mark.parametrize("bound", [8, 32, 128])
def test_one_learned_model_has_a_third_of_the_places_at_most(bound: int) -> None:
    marks = [mark(f"m{n:03}", effect=9.0 + n, on="A", learner="m") for n in range(200)]
    assert len(choose(marks, bound)) == learned_places(bound)
    marks += [mark(f"n{n:03}", effect=1.0, on="A", learner="n") for n in range(200)]
    kept = choose(marks, bound)
    assert sum(name.startswith("m") for name in kept) == learned_places(bound)
    assert sum(name.startswith("n") for name in kept) == learned_places(bound)
    assert learned_places(128) == 42
