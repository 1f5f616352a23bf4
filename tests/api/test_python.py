"""What programs may rely on: the names, that they are lazy, the judge and a search from Python."""

import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import regraph_kg
from regraph_kg import BadInput, CodeJudge, evaluate, load_problem, optimize
from regraph_kg.settings import Settings
from tests.stores import environment

ROOT = Path(__file__).parents[2]
PROBLEMS = ROOT / "tests" / "evaluation" / "problems"


def test_every_name_is_there_and_documented() -> None:
    page = (ROOT / "docs" / "python.md").read_text()
    rows = page.split("| name | what it is |")[1].split("\n\n")[0].splitlines()[2:]
    told = {name for row in rows for name in re.findall(r"`(\w+)", row.split("|")[1])}
    assert told == set(regraph_kg.__all__)
    assert all(getattr(regraph_kg, name).__doc__ for name in told)
    assert told <= set(dir(regraph_kg))
    with pytest.raises(AttributeError, match="no attribute 'optimise'"):
        regraph_kg.optimise  # noqa: B018


def test_importing_the_package_loads_nothing_of_it() -> None:
    script = (
        "import sys, regraph_kg; print([m for m in sys.modules if m.startswith('regraph_kg.')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout == "[]\n"


def test_a_problem_that_is_not_there_says_so(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="neither a folder nor in the corpus"):
        load_problem(tmp_path / "absent")


@pytest.mark.slow
def test_code_is_judged_from_python_and_from_threads(tmp_path: Path) -> None:
    settings = Settings(cache_dir=tmp_path / "cache")
    problem = load_problem(PROBLEMS / "scale")
    wrong = problem.serial_code.replace("a *", "")
    assert evaluate(problem, wrong, settings=settings).outcome == "wrong_answer"
    said: list[str] = []
    with CodeJudge(settings, said.append) as judge, ThreadPoolExecutor(2) as pool:
        asked = [pool.submit(judge.evaluate, problem, wrong) for _ in range(2)]
        assert [one.result().outcome for one in asked] == ["wrong_answer"] * 2
    assert said


@pytest.mark.slow
def test_a_search_from_python_ends_with_a_summary_and_a_trace(
    embedded_settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environment(embedded_settings).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("REGRAPH_CACHE_DIR", str(tmp_path / "cache"))
    heard: list[int] = []
    found = optimize(
        "reduction", method="standard", budget=2, fast=True, folder=tmp_path / "runs",
        hear=lambda record: heard.append(record.spent),
    )  # fmt: skip
    assert heard
    assert found.summary.problem == "reduction"
    assert found.summary.cost.calls <= 2
    assert len(list((tmp_path / "runs").glob("*.jsonl"))) == 1
