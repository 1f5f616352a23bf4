"""Which answer a step's reasoning is taken from."""

from regraph_kg.models.evaluation import Outcome, code_hash
from regraph_kg.models.prompt import PromptKey, Reply
from regraph_kg.models.run import Cost, StepRecord
from regraph_kg.search.harvest import reasonings
from tests.search.test_harvest import run
from tests.search.toy import header


def test_reasoning_is_what_stands_beside_the_code_of_the_answer_that_a_step_is_of() -> None:
    head = header(3)
    one = StepRecord(
        path=("openmp/a", "openmp/b#1"),
        technique="openmp/b",
        sample=1,
        outcome=Outcome.PASSED,
        speedup=2.0,
        gain=None,
        cost=Cost(calls=2),
        code="#include <x>\nint a;",
    )
    key = PromptKey(
        problem=head.problem,
        target=head.target,
        path=(*one.path[:-1], "openmp/b"),
        attempt=1,
        repair=1,
    )
    text = "First\n I split.\n```cpp\nint a;\n```\nDone."
    other = key.model_copy(update={"repair": 0})
    reply = Reply(text=text, finish="stop")
    replies = ((other, Reply(text="```\nint a;\n```", finish="stop")), (key, reply))
    found = run(one, one.model_copy(update={"code": None}), header=head, replies=replies)
    assert reasonings(found) == {code_hash("#include <x>\nint a;"): "First I split. Done."}
    assert reasonings(run(one, header=head)) == {}
