"""What advice on a technique shows of the graph; known failures: prompts/test_known_failures.py."""

import itertools
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import pytest

from regraph_kg.cpp.tokens import likeness
from regraph_kg.models.graph import Example, KnownFailure
from regraph_kg.models.method import Prompting
from regraph_kg.models.target import TARGETS
from regraph_kg.search.prompts.adviser import Adviser, KnownFailures
from regraph_kg.search.prompts.examples import LIKE, estimated_tokens
from regraph_kg.search.prompts.parts import together
from tests.corpus.corpus import CORPUS, PROBLEMS
from tests.search.prompts.test_render import numbered, stands_in_order
from tests.search.toy import example, technique

A = technique("a")


def advise(
    examples: Sequence[Example] = (),
    prompting: Prompting | None = None,
) -> str:
    none = KnownFailures(lambda *asked: (), 0)
    prompting = prompting or Prompting(retrieval="best")
    adviser = Adviser(lambda *asked: tuple(examples), none, prompting, "toy")
    return together(adviser("openmp/start", A, "int a;"))


# --- examples ---


def test_examples_are_diffs_in_their_order_and_no_more_than_asked() -> None:
    advice = advise(numbered(4))
    assert stands_in_order(advice, ["Reason 0.", "Reason 1."])
    assert "Reason 2." not in advice
    assert "-int b;\n+int bb;" in advice


def test_verified_examples_come_first() -> None:
    guess, fact = numbered(2, verified=False), numbered(1)[0]
    advice = advise([*guess, replace(fact, reasoning="A fact.")])
    assert stands_in_order(advice, ["A fact.", "Reason 0."])
    assert "Reason 1." not in advice


def test_an_example_that_does_not_fit_gives_way_to_one_that_does() -> None:
    long, *rest = numbered(3)
    long = replace(long, after="".join(f"int x{n};\n" for n in range(500)))
    advice = advise([long, *rest])
    assert "Reason 0." not in advice
    assert stands_in_order(advice, ["Reason 1.", "Reason 2."])


def test_examples_together_stay_within_their_tokens() -> None:
    bare = estimated_tokens(advise())
    for budget in (0, 20, 60, 100, 200, 400):
        prompting = Prompting(retrieval="best", examples=9, example_tokens=budget)
        advice = advise(numbered(9), prompting=prompting)
        assert estimated_tokens(advice) - bare <= budget + 9  # and the empty lines between them
        assert ("Reason" in advice) == (budget >= 60)


def test_full_texts_are_shown_where_they_are_shorter() -> None:
    before, after = ("\n".join(f"{word}{n};" for n in range(40)) for word in ("old", "new"))
    rewritten = replace(example("s", "a"), before=before, after=after)
    assert f"Before:\n```cpp\n{before}\n```\nAfter:\n```cpp\n{after}\n```" in advise([rewritten])
    assert "```diff" in advise([replace(rewritten, after=before.replace("old7;", "new7;"))])


def test_without_examples_the_definition_stands_alone() -> None:
    assert advise().endswith("Do a to the loops.")


def test_when_a_technique_helps_and_hurts_stands_right_below_what_it_is() -> None:
    told = A.model_copy(update={"applies": "Loops are long.", "hurts": "They are\nshort."})
    none = KnownFailures(lambda *asked: (), 0)

    adviser = Adviser(lambda *asked: (), none, Prompting())
    assert together(adviser("openmp/start", told, "int a;")).endswith(
        "Do a to the loops.\nWhen it helps: Loops are long.\nWhen it hurts: They are short."
    )


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"effect": 2.4321}, " (2.43x as fast on this machine):"),
        ({"effect": 1.1, "device": "a GPU"}, " (1.1x as fast on a GPU):"),
        ({"effect": 1.1, "device": "x" * 99}, " (1.1x as fast on"),
        (
            {
                "effect": 0.5,
                "device": "a GPU",
                "verified_on": ("a GPU", "toy"),
                "effects": (0.5, 5.0),
            },
            " (5x as fast on this machine):",
        ),
        (
            {"effect": None, "device": "a GPU", "verified_on": ("else",), "effects": (3.0,)},
            " (3x as fast on else):",
        ),
        ({"effect": None}, " (not measured):"),
        ({"verified": False}, " (not measured):"),
    ],
)
def test_an_example_says_what_it_brought_and_where(changes: dict[str, object], says: str) -> None:
    shown = numbered(1, **changes)
    assert f"Example from other code{says}" in advise(shown)


# --- which examples ---

STENCIL = "for (int i = 1; i < n - 1; ++i) y[i] = 0.5f * (x[i - 1] + x[i + 1]);"
ATOMIC = "for (int q = 0; q < count; ++q) atomicAdd(&bins[data[q] % size], 1u);"


def for_code(code: str, **codes: tuple[str, str]) -> list[str]:
    """Names of the examples, each a before and an after, that a prompt about `code` shows."""
    given = [
        replace(example("s", "a"), before=before, after=after, reasoning=name)
        for name, (before, after) in codes.items()
    ]
    none = KnownFailures(lambda *asked: (), 0)
    adviser = Adviser(lambda *asked: tuple(given), none, Prompting(examples=9))
    text = together(adviser("openmp/start", A, code))
    places = {name: text.find(f"): {name}") for name in codes}
    return sorted((name for name in codes if places[name] >= 0), key=lambda name: places[name])


def test_the_likest_example_comes_first_and_none_that_is_not_like_the_code() -> None:
    close, same = STENCIL.replace("0.5f", "third"), STENCIL
    shown = for_code(STENCIL, other=(ATOMIC, ""), close=(close, ""), same=(same, ""))
    assert shown == ["same", "close"]
    assert for_code(STENCIL, other=(ATOMIC, "")) == []


def steps(target: str) -> list[tuple[str, str, str, str]]:
    """Problem, source, technique and code before of every step of four problems."""
    found = []
    for path in (CORPUS / "trajectories" / f"{problem}.{target}.jsonl" for problem in PROBLEMS):
        for line in path.read_text(encoding="utf-8").splitlines():
            walk = json.loads(line)
            source, before = "start", walk["serial"]
            for step in walk["steps"]:
                found.append((path.name.split(".")[0], source, step["technique"], before))
                source, before = step["technique"], step["code"]
    return found


def test_the_bound_parts_the_corpus_as_the_documents_say() -> None:
    kept: Counter[tuple[str, ...]] = Counter()
    pairs: Counter[tuple[str, ...]] = Counter()
    for target in TARGETS:
        for one, other in itertools.combinations(steps(target), 2):
            like = likeness(one[3], other[3]) >= LIKE
            if one[0] == other[0]:
                assert like
            elif one[1:3] == other[1:3]:
                names = tuple(sorted((one[0], other[0])))
                pairs[names] += 1
                kept[names] += like
    assert (kept.total(), pairs.total()) == (21, 34)
    assert kept["histogram", "stencil"] == kept["reduction", "stencil"] == 0
    assert kept["matmul", "stencil"] == 12


class Reads:
    """A graph that counts what is asked of it."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, ...]] = []

    def examples(self, *asked: str) -> tuple[Example, ...]:
        self.asked.append(asked)
        return (example("s", "a"),)

    def failures(self, *asked: str) -> tuple[KnownFailure, ...]:
        self.asked.append(("failures", *asked))
        return ()

    def adviser(self, **settings: object) -> Adviser:
        prompting = Prompting.model_validate(settings)
        known = KnownFailures(self.failures, prompting.known_failures)
        return Adviser(self.examples, known, prompting)


def test_a_transition_is_read_once_whatever_the_code() -> None:
    reads = Reads()
    adviser = reads.adviser()
    for code in ("int a;", "int b;", "int a;"):
        assert adviser("openmp/start", A, code) == adviser("openmp/start", A, code)
    adviser("openmp/b", A, "int a;")
    assert reads.asked == [
        ("openmp/start", "openmp/a"),
        ("failures", "openmp/start", "openmp/a"),
        ("openmp/b", "openmp/a"),
        ("failures", "openmp/b", "openmp/a"),
    ]


def test_what_is_not_shown_is_not_read() -> None:
    reads = Reads()
    reads.adviser(known_failures=0, examples=0)("openmp/start", A, "int a;")
    assert reads.asked == []
