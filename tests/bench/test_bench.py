"""`python -m benchmarks.bench` as it is typed: real graph store, recorded answers and verdicts."""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from benchmarks.bench import results
from benchmarks.bench.__main__ import app
from benchmarks.bench.record import BenchResults
from regraph_kg.errors import ModelError
from regraph_kg.llm.scripted import ScriptedModel
from regraph_kg.models.method import Prompting
from regraph_kg.models.prompt import Prompt, Reply
from regraph_kg.search.run_record import read_header
from tests.in_process import Ended, typed
from tests.search.lab import Lab, grown, lab
from tests.search.test_several import add_problem, two

__all__ = ["grown", "lab", "two"]  # fixtures

ARMS = ("--arm", "mcgs", "--arm", "mcgs/none", "--arm", "standard")


def run_bench(*words: str) -> Ended:
    """`python -m benchmarks.bench WORDS` in this process."""
    return typed(*words, commands=app)


def bench(_: Lab, *words: str, arms: Sequence[str] = ARMS) -> Ended:
    return run_bench("--model", "recorded", "--budget", "5", *arms, *words)


def found(lab: Lab, folder: str = "bench") -> BenchResults:
    return results.read(lab.folder / folder)


def test_every_arm_searches_every_problem_at_the_same_budget(two: Lab) -> None:
    ended = bench(two)
    assert ended.code == 0, ended
    runs = found(two).runs
    places = {(run.problem, run.arm) for run in runs}
    arms = ("mcgs", "mcgs/none", "standard")
    assert places == {(name, arm) for name in ("scale", "twice") for arm in arms}
    by_place = {(run.problem, run.arm): run for run in runs}
    assert by_place["scale", "mcgs"].speedup == pytest.approx(12, rel=0.01)
    assert not by_place["twice", "mcgs"].improved
    assert max(run.cost.calls for run in runs) <= 5
    assert "50 %" in ended.out  # solved: one of two


def test_an_arm_has_a_graph_and_prompts_of_its_own(two: Lab) -> None:
    arms = ("standard", "standard+prefill=no", "mcgs/none+prefill=no")
    assert bench(two, "scale", arms=[w for arm in arms for w in ("--arm", arm)]).code == 0
    traces = {run.arm: two.folder / "bench" / run.trace for run in found(two).runs}
    headers = {arm: read_header(trace) for arm, trace in traces.items()}
    for arm, header in headers.items():
        shown = arm.partition("+")[0].partition("/")[2] or "whole"
        assert (header.graph, header.excluded) == (shown, "scale")
    assert {arm: header.prompting for arm, header in headers.items()} == {
        "standard": Prompting(),
        "standard+prefill=no": Prompting(prefill=False),
        "mcgs/none+prefill=no": Prompting(prefill=False),
    }


def test_an_arm_may_change_its_method_or_do_without_a_model(two: Lab) -> None:
    arms = ("mcgs+transforms=no", "mcgs+model=none")
    assert bench(two, "scale", arms=[w for arm in arms for w in ("--arm", arm)]).code == 0
    headers = {run.arm: read_header(two.folder / "bench" / run.trace) for run in found(two).runs}
    assert not headers["mcgs+transforms=no"].settings.model_dump()["transforms"]
    assert headers["mcgs+model=none"].model == "none"
    assert headers["mcgs+model=none"].settings.model_dump()["transforms"]


def test_the_same_command_runs_nothing_twice(two: Lab) -> None:
    first = bench(two)
    before = found(two)
    two.patch.setattr(ScriptedModel, "complete", None)
    again = bench(two)
    assert (first.code, again.code) == (0, 0)
    assert found(two).runs == before.runs
    assert "0 searches of 5 verdicts each, 6 are done" in again.err


def test_more_arms_may_be_added_and_each_counts_once(two: Lab) -> None:
    assert bench(two, "scale", arms=("--arm", "standard")).code == 0
    twice = ("--arm", "mcgs", "--arm", "mcgs/whole")
    assert bench(two, "scale", arms=twice).code == 0
    assert found(two).arms == ("standard", "mcgs")
    assert [run.arm for run in found(two).runs] == ["standard", "mcgs"]


def test_a_model_that_dies_in_mid_bench_leaves_what_is_done_and_the_command(two: Lab) -> None:
    answer = ScriptedModel.complete

    def lose(model: ScriptedModel, prompt: Prompt) -> Reply:
        if "twice" in prompt.key.model_dump_json() and prompt.key.path == ():  # type: ignore[union-attr]
            raise ModelError("server gone")
        return answer(model, prompt)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ScriptedModel, "complete", lose)
        ended = bench(two)
    assert ended.code == 4
    said = ended.err.splitlines()[-1]
    done = len(found(two).runs)
    assert said.startswith(
        f"regraph: server gone; searches done: {done}; go on: python -m benchmarks.bench"
    )
    assert 0 < done < 6
    again = bench(two)
    assert again.code == 0
    assert len(found(two).runs) == 6
    traces = list(two.folder.glob("bench/runs/*/2*.jsonl"))
    assert len(traces) == 6  # the search that was stopped went on in its trace


def test_what_a_full_disk_left_of_a_trace_does_not_stop_the_search(two: Lab) -> None:
    folder = two.folder / "bench/runs/scale.openmp.standard.0"
    folder.mkdir(mode=0o700, parents=True)
    (folder / "20990101T000000Z-scale-standard-0.jsonl").touch()
    assert bench(two, "scale", arms=("--arm", "standard")).code == 0
    (run,) = found(two).runs
    assert not run.trace.startswith("runs/scale.openmp.standard.0/2099")


def test_another_budget_problem_or_graph_is_another_bench(two: Lab) -> None:
    assert bench(two, "scale", arms=("--arm", "mcgs")).code == 0
    old = found(two)
    toml = two.folder / "corpus/problems/scale/problem.toml"
    written = toml.read_text()
    again = ("scale", "--model", "recorded", "--arm", "mcgs/none", "--budget")
    ended = [run_bench(*again, "6")]
    toml.write_text(written + "\n[work]\nflop = '1'\n")
    ended.append(run_bench(*again, "5"))
    toml.write_text(written)
    graph = old.graph | {"statistics": "of another day"}
    results.write(old.model_copy(update={"graph": graph}), two.folder / "bench")
    ended.append(run_bench(*again, "5"))
    assert [one.code for one in ended] == [2, 2, 2]
    assert found(two).runs == old.runs


def test_results_that_somebody_changed_are_one_line(two: Lab) -> None:
    assert bench(two, "scale", arms=("--arm", "standard")).code == 0
    file = two.folder / "bench/results.json"
    told = json.loads(file.read_text())
    for wrong in ({"problems": []}, {"runs": [told["runs"][0] | {"speedup": 0}]}):
        file.write_text(json.dumps(told | wrong))
        ended = run_bench("--from", "bench")
        assert ended.code == 2
        assert "not results of this version" in ended.err.splitlines()[-1]


def test_a_problem_that_fails_its_check_is_left_out_and_named(two: Lab) -> None:
    serial = two.folder / "corpus/problems/twice/serial.cpp"
    serial.write_text(serial.read_text().replace("{", "{ this is no C++;", 1))
    ended = bench(two)
    assert ended.code == 0, ended
    (out,) = found(two).left_out
    assert out.name == "twice"
    assert "twice" in ended.out.partition("Left out")[2]
    assert {run.problem for run in found(two).runs} == {"scale"}


def test_a_folder_stands_for_the_problems_in_it(two: Lab) -> None:
    shutil.copytree(two.folder / "corpus/problems", two.folder / "mine")
    assert bench(two, "mine", arms=("--arm", "standard")).code == 0
    assert {problem.name for problem in found(two).problems} == {"scale", "twice"}
    (two.folder / "mine/scale/problem.toml").write_text("name = ")
    assert bench(two, "mine", "--into", "again", arms=("--arm", "standard")).code == 0
    assert [one.name for one in found(two, "again").left_out] == ["scale"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--arm", "standard/none"), "standard reads no graph"),
        (("--arm", "best"), "arm 'best': methods are"),
        (("--arm", "mcgs/half"), "after the slash comes one of"),
        (("--arm", "mcgs+prefil=no"), "after + comes one of model=none, prefill=.."),
        (("--arm", "mcgs+best"), "after + comes one of"),
        (("--arm", "mcgs+prefill=perhaps"), "after + comes one of"),
        (("--model", "batch:answers"), "a bench does not wait for answers by file"),
        (("scale", "scale", "--model", "recorded"), "named twice, or in two folders"),
        (("--from", "bench", "--arm", "regrapht"), "--arm has no effect beside --from"),
        (("--budget", "0"), "--budget"),
        (("--target", "fpga"), "--target fpga: know"),
        (("nope",), "problem nope: neither a folder nor in"),
        (("--from", "nope.json"), "nope.json: No such file"),
    ],
)
def test_bad_input_is_one_line(lab: Lab, words: Sequence[str], said: str) -> None:
    ended = run_bench(*words)
    assert ended.code == 2
    assert said in ended.err.splitlines()[-1]


def test_an_empty_graph_is_said_before_anything_is_asked(lab: Lab) -> None:
    ended = bench(lab, "scale")
    assert ended.code == 2
    assert "run regraph ingest" in ended.err.splitlines()[-1]


def test_two_benches_have_two_folders(two: Lab) -> None:
    with results.locked(two.folder / "bench"):
        ended = bench(two, "scale")
    assert ended.code == 2
    assert "another bench is writing there" in ended.err


def test_a_full_disk_is_one_line_and_loses_nothing(two: Lab) -> None:
    assert bench(two, "scale", arms=("--arm", "standard")).code == 0

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Path, "replace", full)
        ended = bench(two, "scale", arms=("--arm", "regrapht"))
    assert ended.code in {3, 4}
    assert "No space left on device" in ended.err.splitlines()[-1]
    assert found(two).arms == ("standard",)
    assert list(two.folder.glob("bench/tmp*")) == []


def test_results_are_shown_again_without_running(two: Lab) -> None:
    assert bench(two, "scale").code == 0
    shown = run_bench("--from", "bench/results.json")
    assert shown.code == 0
    assert "mcgs/none" in shown.out
    as_json = run_bench("--from", "bench", "--json")
    assert BenchResults.model_validate_json(as_json.out) == found(two)


@pytest.mark.slow
def test_a_live_judge_serves_all_arms(two: Lab) -> None:
    two.judge_live()
    add_problem(two, "thrice")
    ended = bench(two, "scale", "thrice", "--parallel", "3", "--final", "screening")
    assert ended.code == 0, ended
    assert len(found(two).runs) == 6
    assert all(run.judge and run.device for run in found(two).runs)
