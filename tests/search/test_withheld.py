"""Requests that do not tell the technique, and what the graph was worth against them."""

import pytest

from regraph_kg.models.evaluation import Outcome
from regraph_kg.models.graph import FreeChoice
from regraph_kg.models.method import Prompting
from regraph_kg.models.prompt import PromptKey
from regraph_kg.models.run import Cost
from regraph_kg.runs.worth import EdgeWorth, Tally, difference, worth
from regraph_kg.search.free_steps import free_run
from regraph_kg.search.harvest import NAMELESS, harvest
from regraph_kg.search.methods.mcgs import McgsSettings
from regraph_kg.search.run_record import place_of
from tests.search.test_free_steps import WALK, sums
from tests.search.test_harvest import HEADER, report, run, step
from tests.search.toy import SERIAL, Toy, code, fenced, header, searching

GRAPH = {"start": ["a", "b"], "a": ["b"], "b": ["a"]}


def script(key: PromptKey) -> str:
    """Half of all answers fail or bring nothing."""
    worth = ["wrong_answer", 0.0, 0.1, 0.2][(key.attempt + len(key.path)) % 4]
    return fenced(code(worth, (key.path, key.attempt)))


def walk(share: float, seed: int = 0) -> list[tuple[bool, str]]:
    """A search of 24 calls: of each step whether its technique was withheld, and its prompt."""
    toy = Toy(GRAPH, script)
    settings = McgsSettings(repairs=0, free=False)
    head = header(24, seed, settings=settings)
    head = head.model_copy(update={"prompting": Prompting(withhold=share)})
    steps = [one for record in searching(toy.world, head) for one in record.steps]
    prompts = {(k.path, k.attempt): p.user for k, p in zip(toy.asked, toy.prompts, strict=True)}
    told = [(one.withheld, prompts[place_of(one)]) for one in steps]
    return told


@pytest.mark.parametrize("share", [0.0, 0.4, 1.0])
def test_a_share_of_requests_does_not_tell_the_technique(share: float) -> None:
    told = walk(share)
    withheld = [is_withheld for is_withheld, _ in told]
    assert all((" to the loops." in prompt) is not hidden for hidden, prompt in told)
    assert not any("This technique" in prompt for hidden, prompt in told if hidden)
    assert not any("Known to fail" in prompt for hidden, prompt in told if hidden)
    assert {0.0: sum(withheld) == 0, 0.4: 2 < sum(withheld) < 20, 1.0: all(withheld)}[share]


def test_the_seed_alone_says_which() -> None:
    first, again, other = walk(0.4), walk(0.4), walk(0.4, seed=1)
    assert first == again
    assert [hidden for hidden, _ in first] != [hidden for hidden, _ in other]


def test_a_withheld_step_is_a_free_choice_and_teaches_nothing_of_the_technique() -> None:
    steps = [step("a", 2.0), step("a b", None, withheld=True), step("a c", 3.0, withheld=True)]
    steps.append(step("a d", None, withheld=True, outcome=Outcome.UNCHANGED))
    made = run(*steps, header=WALK)
    taught = harvest(made, SERIAL)
    assert (taught.steps, taught.failures, taught.left_out) == (1, 0, {NAMELESS: 3})
    found = free_run(made)
    assert found is not None
    assert found.choice == FreeChoice(later=sums(3, 1.5))


WITHHOLDING = HEADER.model_copy(
    update={"prompting": Prompting(withhold=0.1), "graph": "whole", "judge": "live"}
)


def test_uplift_is_the_share_of_faster_steps_over_that_of_withheld_ones() -> None:
    steps = [
        *(step(f"a#{n}", 2.0) for n in range(6)),
        step("a#6", None),
        step("a#7", None, outcome=Outcome.DECLINED),
        step("a#8", 1.02),
        step("a#9", 1.5, applied="other"),
        step("a#10", 2.0, outcome=Outcome.UNSTABLE_TIMING),
        step("b", None, withheld=True, outcome=Outcome.UNCHANGED),
        step("b#1", 1.2, withheld=True),
        step("a#1 b", 2.08),
        step("b#1 a", 9.0),
        step("free", 9.0, technique=None),
    ]
    every, first, second = worth([run(*steps, header=WITHHOLDING)])
    told = Tally(asked=11, applied=8, passed=9, faster=7)
    withheld = Tally(asked=2, applied=1, passed=1, faster=1)
    assert (every.source, every.told, every.withheld) == ("", told, withheld)
    assert (first.source, first.technique) == ("openmp/start", "openmp/a")
    assert first.told == Tally(asked=10, applied=7, passed=8, faster=7)
    assert first.uplift == pytest.approx(0.2)
    assert (second.source, second.told.faster) == ("openmp/a", 0), "4 % are none"


def test_runs_that_withhold_nothing_count_but_are_not_compared() -> None:
    drawn = run(step("a", 2.0), step("b", 1.0, withheld=True), header=WITHHOLDING)
    plain = HEADER.model_copy(update={"judge": "live"})
    shuffled = WITHHOLDING.model_copy(update={"graph": "shuffled-structure"})
    others = [run(step("a", None), header=plain), run(step("a", None), header=shuffled)]
    every, edge = worth([drawn, *others])
    assert (every.told, edge.told) == (Tally(2, 1, 1, 1), Tally(2, 1, 1, 1))
    assert (every.uplift, edge.uplift) == (1.0, 1.0)


def test_what_the_final_measurement_disproved_did_not_pass() -> None:
    wrong = report("int a;", 2.0, outcome=Outcome.WRONG_ANSWER)
    made = run(step("a", 2.0), header=WITHHOLDING, finals={wrong.code_hash: wrong})
    assert [one.told for one in worth([made])] == [Tally(asked=1)] * 2


def test_the_interval_is_newcombes() -> None:
    low_high = difference(56, 70, 48, 80)  # Newcombe 1998, table II, (a), method 10
    assert low_high == pytest.approx((0.2, 0.0524, 0.3339), abs=5e-5)
    assert difference(0, 10, 0, 10)[1:] == pytest.approx((-0.2775, 0.2775), abs=5e-4)


def test_without_withheld_steps_there_is_no_uplift() -> None:
    (every, edge) = worth([run(step("a"), header=WITHHOLDING)])
    assert isinstance(every, EdgeWorth)
    assert (every.uplift, edge.uplift, worth([])) == (None, None, [])


def test_the_first_step_is_measured_by_the_program_that_the_search_began_with() -> None:
    begun = step("port", 4.0, technique=None, cost=Cost(evaluations=1)).model_copy(
        update={"path": ()}
    )
    steps = [begun, step("a", 4.1), step("a#1", 5.0)]
    assert [one.told.faster for one in worth([run(*steps, header=WITHHOLDING)])] == [1, 1]
