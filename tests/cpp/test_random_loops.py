"""A loop that is called parallel gives the same results dealt out to threads, in any order."""

import subprocess
from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest

from regraph_kg.cpp.facts import facts_of
from regraph_kg.search.fit.predicate import is_parallel
from tests.cpp.random_loops import HELPERS, MAIN, PARAMETERS, PROGRAM, RandomLoops

ONE = f"void f({PARAMETERS})"


def claimed(seeds: Sequence[int]) -> list[tuple[str, str]]:
    """Each function with a loop that is called parallel, and the same with that loop dealt out."""
    found = []
    for seed in seeds:
        drawn = RandomLoops(Random(seed))
        facts = facts_of(f"{HELPERS}{ONE} {{ {drawn.text()} }}")
        loops = [loop for loop in facts.loops if loop.kind == "for" and loop.variable in "ijl"]
        assert facts.read_whole
        assert len(loops) == len(drawn.nests)
        for number, loop in enumerate(loops):
            threads = loop.carries == "no" and not (loop.exits or loop.reduces or loop.private)
            if is_parallel(loop) is True or threads:
                found.append((drawn.text(), drawn.text(number, loop.clauses)))
    return found


def differing(folder: Path, pairs: list[tuple[str, str]]) -> list[str]:
    """The functions that end otherwise with their loop dealt out."""
    texts = [
        f"{ONE.replace(' f', f' {kind}{k}')} {{ {text} }}"
        for k, pair in enumerate(pairs)
        for kind, text in zip("ab", pair, strict=True)
    ]
    runs = ", ".join(f"{{a{k}, b{k}}}" for k in range(len(pairs)))
    (folder / "all.cpp").write_text("\n".join([PROGRAM, *texts, MAIN % (PARAMETERS, runs)]))
    words = ["g++", "-O0", "-std=c++20", "-w", "-fwrapv", "all.cpp", "-o", "all"]
    subprocess.run(words, cwd=folder, check=True, timeout=300)
    said = subprocess.check_output(["./all"], cwd=folder, text=True, timeout=300)
    return [pairs[int(number)][0] for number in said.split()]


def needs_the_one_before() -> tuple[str, str]:
    drawn = RandomLoops(Random(0))
    drawn.nests = drawn.nests[:1]
    drawn.parts, drawn.nests[0].body = [*drawn.nests], ["y[i] = y[i - 1] + 1;"]
    drawn.nests[0].head = "(int i = 1; i < n; ++i)"
    return drawn.text(), drawn.text(0)


def test_a_few_drawn_loops_are_the_same_in_any_order(tmp_path: Path) -> None:
    pairs, wrong = claimed(range(24)), needs_the_one_before()
    assert len(pairs) > 10  # else nothing is proven of plain loops either
    assert differing(tmp_path, [*pairs, wrong]) == [wrong[0]]


@pytest.mark.nightly
@pytest.mark.parametrize("first", range(1000, 5000, 500))
def test_many_drawn_loops_are_the_same_in_any_order(tmp_path: Path, first: int) -> None:
    assert differing(tmp_path, claimed(range(first, first + 500))) == []
