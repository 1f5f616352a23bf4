"""Serial refinement: what each round starts from, what it is told, and when it begins again."""

import math
from collections.abc import Sequence

import pytest

from regraph_kg.models.evaluation import Outcome
from regraph_kg.models.prompt import PromptKey, Reply
from regraph_kg.models.run import Cost, StepRecord
from regraph_kg.search.context import Iteration
from regraph_kg.search.ledger import Ledger
from regraph_kg.search.methods.fsr import FED_BACK, FsrSettings, chosen_rounds
from regraph_kg.search.prompts.render import free_advice
from regraph_kg.search.run import begin
from regraph_kg.search.world import Effects, Evaluate, ModelRequest
from tests.search.toy import SERIAL, TASK, Script, Toy, asked, code, fenced, header, judge, run


def rounds(*levels: float | str) -> Script:
    """A model whose k-th round is as fast as the k-th level, or fails so."""

    def answer(key: PromptKey) -> str | None:
        return fenced(made(levels, key.attempt)) if key.attempt < len(levels) else None

    return answer


def made(levels: Sequence[float | str], attempt: int) -> str:
    level = levels[attempt]
    return code(math.log(level) if isinstance(level, float) else level, f"round {attempt}")


def starts(toy: Toy, levels: Sequence[float | str]) -> list[int | None]:
    """The round whose code each prompt starts from; None: the serial code."""
    texts = [prompt.user.partition("Current code:")[2] for prompt in toy.prompts]
    return [
        next((k for k in range(len(levels)) if made(levels, k) in text), None) for text in texts
    ]


def told_nothing(text: str) -> bool:
    """Whether a prompt tells of no earlier round."""
    return text.startswith(f"{free_advice()}\n")


def test_each_round_starts_from_the_best_so_far() -> None:
    levels = (2.0, "crashed", 1.5, 3.0, 0.5, 4.0)
    toy = Toy({"start": ["a"]}, rounds(*levels))
    records = run(toy, FsrSettings(), 6)
    assert starts(toy, levels) == [None, 0, 0, 0, 3, 3]
    assert [r.reward for r in records] == pytest.approx([2.0, 0.0, 1.5, 3.0, 0.5, 4.0])
    assert [r.best_speedup for r in records] == pytest.approx([2, 2, 2, 3, 3, 4])
    assert asked(toy) == [("", k, 0) for k in range(6)]
    assert not toy.reads


def test_a_round_is_told_how_earlier_ones_ended() -> None:
    toy = Toy({}, rounds(2.0, "crashed", 1.5, 3.0, 1.0))
    run(toy, FsrSettings(), 5)
    first, second, _, fourth, fifth = [prompt.user for prompt in toy.prompts]
    assert told_nothing(first)
    assert told_nothing(second)  # round 0 is the current code, and all there was
    told = fourth.partition("Current code:")[0]
    assert told.index("Failed (crashed):\n```text\nit crashed") < told.index("0.75x")  # 1.5 / 2
    told = fifth.partition("Current code:")[0]
    assert told.index("0.67x") < told.index("crashed") < told.index("0.50x")  # 2 / 3, 1.5 / 3


def test_it_begins_again_after_rounds_without_gain() -> None:
    levels = (2.0, 1.5, "crashed", 1.2, 0.9, "crashed", 1.1, 1.0)
    toy = Toy({}, rounds(*levels))
    run(toy, FsrSettings(patience=2), 8)
    # 0: 2.0. 1 and 2 are no faster: again. 3: 1.2 is faster than serial. 4, 5 not: again.
    # 6: 1.1, and 7 starts from it.
    assert starts(toy, levels) == [None, 0, 0, None, 3, 3, None, 6]
    assert told_nothing(toy.prompts[3].user)
    assert SERIAL in toy.prompts[3].user
    assert "crashed" not in toy.prompts[7].user


def test_rounds_under_way_know_nothing_of_each_other() -> None:
    levels = (2.0, 3.0, 2.5, 4.0)
    toy = Toy({}, rounds(*levels))
    run(toy, FsrSettings(), 4, parallel=2)
    # 0 and 1 are asked, 2 while 0 is judged, 3 when 0 has ended
    assert starts(toy, levels) == [None, None, None, 0]
    assert asked(toy) == [("", k, 0) for k in range(4)]


class Hands:
    """A search whose rounds end when they are told to."""

    def __init__(self, patience: int) -> None:
        head = header(99, settings=FsrSettings(patience=patience))
        self._method = begin(TASK, head, Toy({}, rounds()).world, Ledger(head.limits))
        self._works: list[Effects[Iteration]] = []

    def begin(self) -> str:
        """Begin a round: its prompt."""
        work = self._method.iteration()
        assert work is not None
        effect = next(work)
        assert isinstance(effect, ModelRequest)
        self._works.append(work)
        return effect.prompt.user

    def end(self, number: int, speedup: float) -> None:
        """Let round `number` end."""
        work = self._works[number]
        effect = work.send(Reply(text=fenced(hand_made(number, speedup)), finish="stop"))
        assert isinstance(effect, Evaluate)
        with pytest.raises(StopIteration):
            work.send(judge(effect.candidate))


def hand_made(number: int, speedup: float) -> str:
    return code(math.log(speedup), f"round {number}")


def test_a_round_that_ends_late_is_told_to_its_own_leg_only() -> None:
    hands = Hands(patience=1)
    for _ in range(2):
        hands.begin()
    hands.end(0, 0.5)
    assert told_nothing(hands.begin())  # 2, of a new leg
    hands.end(1, 0.7)
    assert told_nothing(hands.begin())
    hands.end(2, 1.5)
    text = hands.begin()
    assert hand_made(2, 1.5) in text
    assert told_nothing(text)


def test_a_late_gain_takes_its_leg_up_again() -> None:
    hands = Hands(patience=1)
    for _ in range(2):
        hands.begin()
    hands.end(0, 0.6)
    hands.begin()
    hands.end(1, 3.0)
    text = hands.begin()
    assert hand_made(1, 3.0) in text
    assert "0.20x" in text  # 0.6 / 3.0: the old leg's rounds, too


def test_it_ends_where_a_recorded_model_has_no_more() -> None:
    records = run(Toy({}, rounds(2.0, 1.0)), FsrSettings(), 9)
    assert [r.spent for r in records] == [1, 2, 2]
    assert records[-1].reward is None


def step(number: int, speedup: float | None, text: str | None = "") -> StepRecord:
    outcome = Outcome.PASSED if speedup is not None else Outcome.CRASHED
    return StepRecord(
        path=(),
        technique=None,
        sample=number,
        outcome=outcome,
        speedup=speedup,
        gain=None,
        cost=Cost(),
        code=f"int v{number};" if text == "" else text,
    )


@pytest.mark.parametrize(
    ("ended", "best", "kept"),
    [
        ([], "serial", []),
        ([step(0, 2.0)], "int v0;", []),
        ([step(0, 2.0), step(1, None)], "int v0;", [1]),
        # the fastest but the current one, and the last three others
        ([step(k, s) for k, s in enumerate([3, 9, 1, 2, None, 1.5])], "int v1;", [0, 3, 4, 5]),
        # the fastest is among the last: then four in all
        ([step(k, s) for k, s in enumerate([1, 9, 1, 2, 3, 1.5])], "int v1;", [2, 3, 4, 5]),
        # nothing verified: the last four
        ([step(k, None) for k in range(6)], "serial", [2, 3, 4, 5]),
        # what came twice is told once, where it came last
        ([step(0, 2.0, "int a;"), step(1, None), step(2, 2.0, "int  a;")], "serial", [1, 2]),
        ([step(0, None, None), step(1, None, None)], "serial", [1]),
        # the current code is not told, however it is spelt
        ([step(0, 2.0), step(1, None)], "int  v0 ;", [1]),
    ],
)
def test_what_is_fed_back_by_hand(ended: list[StepRecord], best: str, kept: list[int]) -> None:
    assert FED_BACK == 4
    assert [one.sample for one in chosen_rounds(ended, best)] == kept
