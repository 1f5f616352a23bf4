"""What a trace does not keep, its prompts, comes out again from what it keeps."""

import json
from pathlib import Path

import pytest

from regraph_kg.models.method import MethodSettings
from regraph_kg.models.run import RunHeader
from regraph_kg.search.executor import Alone
from regraph_kg.search.ledger import Ledger
from regraph_kg.search.methods import kind_of
from regraph_kg.search.replay import prompts_again
from regraph_kg.search.run_record import checksum, ending, mac_of
from regraph_kg.search.trace import Trace
from tests.search.recorded_run import GRAPH, HEADER, still, toy
from tests.search.toy import SEAL, TASK, Toy, header, noisy_script, searching


def traced(folder: Path, toy: Toy, head: RunHeader) -> Path:
    """The trace of a search."""
    with Trace.create(folder, head, SEAL, still) as trace:
        world, ledger = trace.world(toy.world), Ledger(head.limits)
        executor = trace.executor(Alone(world))
        for record in searching(world, head, executor=executor, ledger=ledger):
            trace.record(record)
        return trace.path


@pytest.mark.parametrize("method", ["mcgs", "standard", "rethink-mcts", "cot"])
def test_every_prompt_comes_out_as_it_was_asked(tmp_path: Path, method: str) -> None:
    settings: MethodSettings = kind_of(method).settings()
    asked, head = Toy(GRAPH, noisy_script(3)), header(12, settings=settings, parallel=2)
    path = traced(tmp_path, asked, head)
    again = prompts_again(path, head, TASK)
    assert len(asked.prompts) >= 12
    assert again == {prompt.key: prompt for prompt in asked.prompts}


def test_of_a_trace_that_breaks_off_what_was_asked_until_then(tmp_path: Path) -> None:
    asked = toy()
    path = traced(tmp_path, asked, HEADER)
    whole = prompts_again(path, HEADER, TASK)
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    half = prompts_again(path, HEADER, TASK)
    assert half.items() <= whole.items()
    assert 3 < len(half) < len(whole) - 3


def test_answers_that_the_search_does_not_ask_for_end_it_quietly(tmp_path: Path) -> None:
    path = traced(tmp_path, toy(), HEADER)
    lines, total, mac = [], "", ""
    for line in path.read_bytes().splitlines():
        other = line.replace(b'\\"attempt\\":0', b'\\"attempt\\":7')
        text = other if json.loads(line)["event"] == "reply" else line
        body = text.rpartition(b',"sum":')[0]
        total, mac = checksum(total, body), mac_of(SEAL, mac, body)
        lines.append(body + ending(total, mac) + b"\n")
    path.write_bytes(b"".join(lines))
    assert len(prompts_again(path, HEADER, TASK)) == 1
