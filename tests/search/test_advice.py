"""What advice on a technique shows of the graph; known failures: prompts/test_known_failures.py."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from regraph_kg.models.graph import Example, KnownFailure
from regraph_kg.models.method import Prompting
from regraph_kg.search.prompts.examples import REASONING_CHARACTERS, estimated_tokens
from regraph_kg.search.prompts.known_failures import KnownFailures
from regraph_kg.search.prompts.render import Adviser
from tests.search.prompts.test_render import numbered, stands_in_order
from tests.search.toy import example, technique

A = technique("a")


def advise(
    examples: Sequence[Example] = (),
    prompting: Prompting | None = None,
) -> str:
    none = KnownFailures(lambda *asked: (), 0)
    adviser = Adviser(lambda *asked: tuple(examples), none, prompting or Prompting())
    return adviser("openmp/start", A, "int a;")


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
        prompting = Prompting(examples=9, example_tokens=budget)
        advice = advise(numbered(9), prompting=prompting)
        assert estimated_tokens(advice) - bare <= budget + 9  # and the empty lines between them
        assert ("Reason" in advice) == (budget >= 60)


def test_if_none_fits_the_first_is_cut() -> None:
    long = replace(
        example("s", "a"),
        before="int a;\n",
        after="".join(f"int x{n};\n" for n in range(500)),
        reasoning="word " * 500,
    )
    advice = advise([long], prompting=Prompting(example_tokens=300))
    assert "+int x9;" in advice
    assert advice.endswith("...\n```")
    assert estimated_tokens(advice) - estimated_tokens(advise()) <= 301
    assert 200 < advice.count("word ") * len("word ") < REASONING_CHARACTERS + 5


def test_full_texts_are_shown_where_they_are_shorter() -> None:
    before, after = ("\n".join(f"{word}{n};" for n in range(40)) for word in ("old", "new"))
    rewritten = replace(example("s", "a"), before=before, after=after)
    assert f"Before:\n```cpp\n{before}\n```\nAfter:\n```cpp\n{after}\n```" in advise([rewritten])
    assert "```diff" in advise([replace(rewritten, after=before.replace("old7;", "new7;"))])


@pytest.mark.parametrize(
    ("show", "reasoning", "code"),
    [
        ("all", True, True),
        ("code", False, True),
        ("reasoning", True, False),
        ("none", False, False),
    ],
)
def test_an_ablation_leaves_out_reasoning_or_code_or_both(
    show: str, reasoning: bool, code: bool
) -> None:
    advice = advise(numbered(2), prompting=Prompting.model_validate({"show": show}))
    assert ("Reason 1." in advice) == reasoning
    assert ("int bb;" in advice) == code
    assert ("Example" in advice) == (show != "none")


def test_without_examples_the_definition_stands_alone() -> None:
    assert advise().endswith("Do a to the loops.")
    empty = replace(example("s", "a"), reasoning=" ")
    alone = advise([empty], prompting=Prompting(show="reasoning"))
    assert alone.endswith("Do a to the loops.")


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


def test_the_nearest_examples_are_read_once_a_code() -> None:
    reads = Reads()
    adviser = reads.adviser(retrieval="near", known_failures=0)
    for code in ("int a;", "int b;", "int a;"):
        adviser("openmp/start", A, code)
    assert reads.asked == [
        ("openmp/start", "openmp/a", "int a;"),
        ("openmp/start", "openmp/a", "int b;"),
    ]


@pytest.mark.parametrize("settings", [{"examples": 0}, {"show": "none"}])
def test_what_is_not_shown_is_not_read(settings: dict[str, object]) -> None:
    reads = Reads()
    reads.adviser(known_failures=0, **settings)("openmp/start", A, "int a;")
    assert reads.asked == []
