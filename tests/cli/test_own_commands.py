"""A project's own commands, typed: check, evaluate, optimize, runs, report, apply."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from regraph_kg.agents.folder import ProjectFolder
from regraph_kg.errors import BadInput
from regraph_kg.evaluation.problem.problem import load_problem
from regraph_kg.settings import Settings
from regraph_kg.wiring.problems import declared_problem, task_of
from tests.evaluation.project import projects

COMMAND = "from regraph_kg.cli.app import main; main()"
WEAKER = "weaker than the judge's own checks"
ANSWERS = (
    projects.KERNEL.replace("sum / width", "sum / (width + 1)"),
    projects.FASTER,
    projects.KERNEL.replace("float sum = 0;", "__builtin_exit(0); float sum = 0;"),
)


class Here:
    """A folder with a project, its problem, and recorded answers."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "here"
        self.folder.mkdir()
        self.problem = projects.make(self.folder)
        self.kernel = self.folder / "project" / "src" / "kernel.cpp"
        recorded = folder / "corpus" / "recorded"
        recorded.mkdir(parents=True)
        (folder / "corpus" / "problems").mkdir()
        rows = [
            {"path": [], "attempt": index, "text": f"So.\n```cpp\n{code}```\n"}
            for index, code in enumerate(ANSWERS)
        ]
        text = "".join(json.dumps(row | {"author": "test"}) + "\n" for row in rows)
        (recorded / "smooth.openmp.jsonl").write_text(text)
        self._env = {
            **{name: value for name, value in os.environ.items() if "REGRAPH_" not in name},
            "REGRAPH_CORPUS": str(folder / "corpus"),
            "REGRAPH_CACHE_DIR": str(folder / "cache"),
            "REGRAPH_DATA_DIR": str(folder / "data"),
        }

    def run(self, *words: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [sys.executable, "-c", COMMAND, *words],
            cwd=self.folder,
            env=self._env,
            capture_output=True,
            text=True,
            timeout=200,
            check=False,
        )


@pytest.fixture
def here(tmp_path: Path) -> Here:
    return Here(tmp_path)


@pytest.mark.slow
def test_a_file_of_a_project_is_optimized_reported_and_brought_home(here: Here) -> None:
    words = ("--method", "standard", "--budget", "3", "--model", "recorded")
    done = here.run("optimize", "smooth", *words)
    assert done.returncode == 0, done.stderr
    assert WEAKER in done.stdout
    assert WEAKER in here.run("runs", "2026").stdout
    assert here.run("report", "2026", "-o", "page.html").returncode == 0
    assert "these verdicts prove less than others" in (here.folder / "page.html").read_text()

    patched = here.run("apply", "2026", "--patch", "smooth.patch")
    assert patched.returncode == 0, patched.stderr
    before = here.kernel.read_text()
    applied = here.run("apply", "2026", "--yes")
    assert applied.returncode == 0, applied.stderr
    after = here.kernel.read_text()
    assert after.endswith(projects.FASTER)
    assert after.startswith("// regraph: smooth, ")
    assert f"// guarantee: {WEAKER}" in after
    again = here.run("apply", "2026", "--yes")
    assert (again.returncode, "began with other serial code" in again.stderr) == (2, True)
    assert here.run("apply", "2026", "--undo").returncode == 0
    assert here.kernel.read_text() == before
    subprocess.run(
        ["git", "apply", "-p1", "--directory=src", "../smooth.patch"],
        cwd=here.folder / "project",
        check=True,
        timeout=60,
    )
    assert here.kernel.read_text() == after


@pytest.mark.slow
def test_evaluate_and_check_say_what_a_verdict_rests_on(here: Here) -> None:
    checked = here.run("problem", "check", "smooth")
    assert checked.returncode == 0, checked.stderr
    assert WEAKER in checked.stdout
    (here.folder / "faster.cpp").write_text(projects.FASTER)
    judged = here.run("evaluate", "smooth", "faster.cpp")
    assert judged.returncode == 0, judged.stdout + judged.stderr
    assert f"guarantee  {WEAKER}" in judged.stdout
    plain = json.loads(here.run("evaluate", "smooth", "faster.cpp", "--json").stdout)
    assert plain["guarantee"].startswith(WEAKER)


def test_two_codes_are_refused_before_either_is_judged(here: Here) -> None:
    """However the first would have ended: wrong here, too noisy to time on a busy machine."""
    (here.folder / "wrong.cpp").write_text(ANSWERS[0])
    against = here.run("evaluate", "smooth", "wrong.cpp", "--against", "wrong.cpp")
    assert (against.returncode, against.stdout) == (2, "")
    assert "two codes are not compared by a project's own commands" in against.stderr


def test_a_gpu_is_refused(here: Here) -> None:
    problem = load_problem(here.problem)
    with pytest.raises(BadInput, match="are run without a GPU"):
        task_of(problem, "cuda")


def test_such_a_problem_teaches_the_graph_nothing(here: Here) -> None:
    with pytest.raises(BadInput, match="proves too little for the graph"):
        declared_problem(Settings(), str(here.problem))


def test_agents_reach_no_project_outside_their_folder(here: Here) -> None:
    inside = ProjectFolder(here.folder, Settings())
    assert inside.problem("smooth") == str(here.problem)
    for line in ('readable = ["/opt/other"]', f'python = "{sys.prefix}"'):
        text = (here.problem / "problem.toml").read_text()
        projects.edit(here.problem, "[commands]", f"[commands]\n{line}")
        with pytest.raises(BadInput, match="outside the project's folder"):
            inside.problem("smooth")
        (here.problem / "problem.toml").write_text(text)
    with pytest.raises(BadInput, match="outside the project's folder"):
        ProjectFolder(here.problem.parent / "smooth", Settings()).problem(".")
