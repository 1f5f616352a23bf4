"""A trace remembers a run: resumed from any point it ends as if it had never stopped."""

import fcntl
import json
import random
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from threading import Timer

import pytest

from regraph_kg.errors import BadInput, ToolError
from regraph_kg.models.method import SearchLimits
from regraph_kg.search import run_record
from regraph_kg.search.methods import METHODS, kind_of
from regraph_kg.search.methods.mcgs import McgsSettings, PaperSettings
from regraph_kg.search.run_record import (
    RunRecord,
    TraceReader,
    checksum,
    ending,
    mac_of,
    read_header,
)
from regraph_kg.search.trace import Trace
from tests.search.recorded_run import GRAPH, HEADER, recorded_toy, still, toy
from tests.search.toy import SEAL, Run, Toy, header, noisy_script, read, traced

ROOT = Path(__file__).parents[2]


@pytest.fixture
def whole(tmp_path: Path) -> tuple[Path, Run]:
    """A finished trace and what its run came to."""
    with Trace.create(tmp_path / "whole", HEADER, SEAL, still) as trace:
        return trace.path, traced(toy(), trace, HEADER)


def test_a_trace_holds_all_that_was_read_asked_and_learned(whole: tuple[Path, Run]) -> None:
    path, _ = whole
    events = [line.event for line in read(path)]
    assert events[0] == "header"
    assert set(events) == {
        *("header", "neighbours", "pooled", "transforms"),
        *("reply", "report", "final", "record", "stop"),
    }
    assert path.name == "20261121T100000Z-toy-mcgs-0.jsonl"
    assert read_header(path) == HEADER


@pytest.mark.parametrize("method", tuple(METHODS))
def test_a_trace_holds_its_header_and_every_prompt(tmp_path: Path, method: str) -> None:
    asked, settings = Toy(GRAPH, noisy_script(3)), kind_of(method).settings()
    head = header(12, settings=settings, parallel=2)
    with Trace.create(tmp_path, head, SEAL, still) as trace:
        traced(asked, trace, head)
    found = RunRecord.read(trace.path)
    assert found.header == head
    assert {key: (one.system, one.user) for key, one in found.prompts.items()} == {
        prompt.key: (prompt.system, prompt.user) for prompt in asked.prompts
    }


def test_a_finished_run_is_replayed_without_asking_anyone(whole: tuple[Path, Run]) -> None:
    path, finished = whole
    before = path.read_bytes()
    again = toy()
    with Trace.resume(path, HEADER, SEAL, still) as trace:
        assert traced(again, trace, HEADER) == finished
    assert (again.asked, again.evaluated, again.reads) == ([], [], {})
    assert path.read_bytes() == before


@pytest.mark.parametrize("parallel", [1, 4])
def test_resumed_from_any_line_or_half_line_it_ends_the_same(tmp_path: Path, parallel: int) -> None:
    """What was under way is asked again, what had come in comes in again in its order."""
    head = HEADER.model_copy(update={"parallel": parallel})
    with Trace.create(tmp_path / "whole", head, SEAL, still) as trace:
        finished = traced(toy(), trace, head)
    content = trace.path.read_bytes()
    first = content.index(b"\n") + 1
    rng = random.Random(3)
    cuts = {rng.randrange(first, len(content)) for _ in range(50)} | {first}
    for cut in sorted(cuts):
        part = tmp_path / "part.jsonl"
        part.write_bytes(content[:cut])
        with Trace.resume(part, head, SEAL, still) as trace:
            assert trace.torn == (content[cut - 1 : cut] != b"\n")
            assert traced(toy(), trace, head) == finished
        assert part.read_bytes() == content


@pytest.mark.slow
def test_killed_at_100_random_points_and_resumed_it_ends_identically(
    whole: tuple[Path, Run], tmp_path: Path
) -> None:
    """Recorded model, recorded judge, kill -9: same states, ledger and answer, same trace."""
    path, finished = whole
    content = path.read_bytes()
    rng = random.Random(4)
    sizes = [str(rng.randrange(len(content))) for _ in range(100)]
    command = [sys.executable, "-m", "tests.search.kill_runs", str(path), str(tmp_path), *sizes]
    subprocess.run(command, cwd=ROOT, check=True, timeout=60)
    left = [next((tmp_path / str(number)).glob("*.jsonl")) for number in range(100)]
    assert len({trace.stat().st_size for trace in left}) > 30
    for part in left:
        assert content.startswith(part.read_bytes())
        with Trace.resume(part, HEADER, SEAL, still) as trace:
            assert traced(recorded_toy(path), trace, HEADER) == finished
        assert part.read_bytes() == content


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"seed": 1}, "seed was 0, now it is 1"),
        ({"model": "toy@2"}, "model was 'toy', now it is 'toy@2'"),
        ({"settings": McgsSettings(free=False, depth=3)}, "settings.depth was 8, now it is 3"),
        ({"settings": PaperSettings()}, "settings.method was 'mcgs', now it is 'mcgs-paper'"),
        ({"serial": "other"}, "serial was"),
        ({"device": "other"}, "device was"),
        ({"version": "9"}, "version was '0', now it is '9'"),
        ({"parallel": 4}, "parallel was 1, now it is 4"),
        ({"limits": SearchLimits(verdicts=99)}, "limits.verdicts was 25, now it is 99"),
    ],
)
def test_a_run_that_differs_is_refused_with_the_difference(
    whole: tuple[Path, Run], change: dict[str, object], said: str
) -> None:
    other = HEADER.model_copy(update=change)
    with pytest.raises(BadInput, match=said):
        Trace.resume(whole[0], other, SEAL)


def forged(content: bytes, key: bytes | None, change: Callable[[bytes], bytes]) -> bytes:
    """A trace with its bodies changed, and all that can be made without the installation's key."""
    lines, total, mac = list[bytes](), "", ""
    for line in content.splitlines():
        body = change(line.rpartition(b',"sum":')[0])
        total = checksum(total, body)
        mac = "" if key is None else mac_of(key, mac, body)
        lines.append(body + ending(total, mac))
    return b"\n".join(lines) + b"\n"


def seen(path: Path, key: bytes | None = None) -> TraceReader:
    """The reader of a trace that was read to its end."""
    reader = TraceReader(path, key)
    assert list(reader)
    return reader


def faster(body: bytes) -> bytes:
    return body.replace(b'"reward":0.', b'"reward":9.')


@pytest.mark.parametrize("key", [None, b"", bytes(32)], ids=["none", "empty", "another"])
def test_a_trace_of_others_is_read_but_not_resumed(
    whole: tuple[Path, Run], key: bytes | None, tmp_path: Path
) -> None:
    path = tmp_path / "theirs.jsonl"
    path.write_bytes(forged(whole[0].read_bytes(), key, faster))
    assert not seen(path, SEAL).ours
    assert len(read(path)) == len(read(whole[0]))
    with pytest.raises(BadInput, match="not written by this installation"):
        Trace.resume(path, HEADER, SEAL)
    assert path.read_bytes() == forged(whole[0].read_bytes(), key, faster)  # nothing was written


def test_a_trace_is_ours_whole_and_cut(whole: tuple[Path, Run], tmp_path: Path) -> None:
    content = whole[0].read_bytes()
    assert seen(whole[0], SEAL).ours
    part = tmp_path / "part.jsonl"
    part.write_bytes(content[: content.index(b"\n", 5000) + 7])
    assert (seen(part, SEAL).ours, seen(part, SEAL).torn) == (True, True)
    assert not seen(whole[0]).ours  # nobody knows, without a key


@pytest.mark.parametrize(
    "change",
    [
        lambda lines: [*lines[:3], *lines[4:]],
        lambda lines: [*lines[:3], lines[4], lines[3], *lines[5:]],
        lambda lines: [*lines, lines[-1]],
        lambda lines: [*lines[:3], faster(lines[3]), *lines[4:]],
    ],
    ids=["left out", "swapped", "said twice", "changed"],
)
def test_lines_of_ours_in_another_order_are_not_ours(
    change: Callable[[list[bytes]], list[bytes]], whole: tuple[Path, Run], tmp_path: Path
) -> None:
    """Although each has its own mac, and the checksums, which need no key, are made to fit."""
    path, total, lines = tmp_path / "mixed.jsonl", "", list[bytes]()
    found = [line for line in whole[0].read_bytes().splitlines() if b'"reward":0.' in line]
    for line in change([*whole[0].read_bytes().splitlines(), *found]):
        body, mac = line.rpartition(b',"sum":')[0], line.rpartition(b'"mac":"')[2][:64]
        total = checksum(total, body)
        lines.append(body + ending(total, mac.decode()))
    path.write_bytes(b"\n".join(lines) + b"\n")
    assert not seen(path, SEAL).ours


def test_nothing_is_said_behind_the_mac(whole: tuple[Path, Run], tmp_path: Path) -> None:
    """A second "value" there would be the one that a reader takes."""
    path = tmp_path / "longer.jsonl"
    first, rest = whole[0].read_bytes().split(b"\n", 1)
    path.write_bytes(first[:-1] + b',"value":{}}\n' + rest)
    assert read(path)[0].value == {}
    assert not seen(path, SEAL).ours


def test_a_line_that_is_too_long_ends_the_reading(
    whole: tuple[Path, Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_record, "LONGEST_LINE", 100)
    with pytest.raises(BadInput, match=r"\.jsonl: a line is too long; give a trace as"):
        read(whole[0])


def test_a_trace_that_was_changed_is_noticed(whole: tuple[Path, Run]) -> None:
    path, _ = whole
    content = path.read_bytes()
    path.write_bytes(content.replace(b'"reward":0.', b'"reward":1.', 1))
    with pytest.raises(BadInput, match="the trace was changed here"):
        Trace.resume(path, HEADER, SEAL)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "not a line of a trace"),
        (b'{"event": "header", "key"', "not a line of a trace"),
        (b"hello\n", r"trace.jsonl:1: not a line"),
        (
            b'{"event":"header","key":"","value":{"schema_version":1}}\n',
            "not a line of a trace",
        ),
    ],
    ids=["empty", "torn header", "text", "the first schema"],
)
def test_what_is_no_trace_is_refused(content: bytes, said: str, tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_bytes(content)
    with pytest.raises(BadInput, match=said):
        Trace.resume(path, HEADER, SEAL)


def test_a_missing_trace_is_bad_input(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="No such file") as told:
        read_header(tmp_path / "none.jsonl")
    assert str(told.value).count("give a trace") == 1


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"method": "gone"}, r"^{path}:1: method 'gone' is not one of .*; give a trace"),
        ({"method": "lookahead"}, r"^{path}:1: method 'lookahead' is not one of .*; give"),
        ({"method": "mcgs", "rollout": 1}, "header field 'settings.rollout' is not ours"),
        ({"method": "mcgs", "depth": "deep"}, "header field 'settings.depth' is not ours"),
        ({"method": "standard", "depth": 3}, "header field 'settings.depth' is not ours"),
        ({"depth": 3}, "header field 'settings' is not ours"),
        (None, "header field 'settings' is not ours"),
    ],
)
def test_settings_that_no_method_has_are_refused(
    settings: object, said: str, tmp_path: Path
) -> None:
    value = HEADER.model_dump(mode="json") | {"settings": settings}
    body = json.dumps({"event": "header", "key": "", "value": value, "at": 0.0})[:-1].encode()
    path = tmp_path / "trace.jsonl"
    path.write_bytes(body + ending(checksum("", body), mac_of(SEAL, "", body)) + b"\n")
    with pytest.raises(BadInput, match=said.format(path=path)):
        read_header(path)


def test_two_searches_never_write_one_trace(tmp_path: Path) -> None:
    with Trace.create(tmp_path, HEADER, SEAL) as one, Trace.create(tmp_path, HEADER, SEAL) as two:
        assert one.path != two.path  # begun in the same second
        with pytest.raises(BadInput, match="another search is writing"):
            Trace.resume(one.path, HEADER, SEAL)


def test_a_full_disk_loses_nothing_and_the_run_goes_on_once_there_is_room(
    whole: tuple[Path, Run], tmp_path: Path
) -> None:
    path, finished = whole
    size = path.stat().st_size
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with Trace.create(tmp_path / "full", HEADER, SEAL, still) as trace:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size // 2, hard))  # writes fall short, then fail
        try:
            with pytest.raises(ToolError, match="while tracing"):
                traced(toy(), trace, HEADER)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    left = trace.path.read_bytes()
    assert path.read_bytes().startswith(left)
    assert left.endswith(b"\n")
    with Trace.resume(trace.path, HEADER, SEAL, still) as trace:
        assert traced(toy(), trace, HEADER) == finished


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ToolError, match="--runs"):
        Trace.create(tmp_path / "file" / "runs", HEADER, SEAL)


def test_who_looks_whether_a_trace_is_written_does_not_keep_a_search_from_it(
    tmp_path: Path,
) -> None:
    with Trace.create(tmp_path, HEADER, SEAL, still) as trace:
        path = trace.path
    held = path.open("rb")
    fcntl.flock(held, fcntl.LOCK_SH)
    Timer(0.1, held.close).start()
    with Trace.resume(path, HEADER, SEAL, still) as again:
        assert again.path == path
