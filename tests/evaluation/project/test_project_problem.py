"""problem.toml with [commands]: what is read, what is refused; the look at such a problem."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from regraph_kg.errors import BadInput
from regraph_kg.evaluation import command_judge
from regraph_kg.evaluation.command_judge import first_difference
from regraph_kg.evaluation.problem.problem import load_problem
from regraph_kg.evaluation.problem.project import (
    ProjectProblem,
    copy,
    digest_of,
    doing_nothing,
    head_of,
)
from regraph_kg.settings import Settings
from regraph_kg.wiring.problems import check_problem

from . import projects

Change = Callable[[Path], object]


def loaded(problem: Path) -> ProjectProblem:
    found = load_problem(problem)
    assert isinstance(found, ProjectProblem)
    return found


def test_the_serial_code_is_the_file_as_it_stands(tmp_path: Path) -> None:
    found = loaded(projects.make(tmp_path))
    assert found.serial_code == projects.KERNEL
    assert found.signature() == "void smooth(const float* x, float* y, int n, int width)"
    assert found.home == tmp_path / "project" / "src" / "kernel.cpp"


def test_any_change_of_the_project_makes_it_another_problem(tmp_path: Path) -> None:
    problem = projects.make(tmp_path)
    before = loaded(problem)
    (tmp_path / "project" / "checks" / "test.c").write_text("int main(void) {}\n")
    after = loaded(problem)
    assert before.model_dump_json() != after.model_dump_json()
    (tmp_path / "project" / "runs").mkdir()
    (tmp_path / "project" / "runs" / "one.jsonl").write_text("{}")
    assert loaded(problem).tree == after.tree, "our own traces are no part of it"
    (tmp_path / "project" / "build").mkdir()
    (tmp_path / "project" / "build" / "kernel.o").write_text("1")
    assert loaded(problem).tree != after.tree
    (tmp_path / "project" / "build" / "CMakeCache.txt").write_text("")
    assert loaded(problem).tree == after.tree, "a folder that CMake built in cannot be copied"


def outside(problem: Path) -> None:
    source = problem.parent / "project" / "src"
    source.rename(problem.parent / "elsewhere")
    source.symlink_to(problem.parent / "elsewhere")


def bare_python(problem: Path) -> None:
    """A bin/python as that of the whole system: all below its folder would be readable."""
    (problem / "own" / "bin").mkdir(parents=True)
    (problem / "own" / "bin" / "python").symlink_to(sys.executable)
    projects.edit(problem, "[commands]", '[commands]\npython = "own"')


@pytest.mark.parametrize(
    ("change", "about"),
    [
        (lambda p: projects.edit(p, '"../project"', '"../nowhere"'), "commands.project"),
        (lambda p: projects.edit(p, "src/kernel.cpp", "src/none.cpp"), "commands.file"),
        (lambda p: projects.edit(p, "src/kernel.cpp", "../x.cpp"), "commands.file"),
        (lambda p: projects.edit(p, "src/kernel.cpp", "/etc/passwd"), "commands.file"),
        (outside, "commands.file"),
        (lambda p: projects.edit(p, 'passed = ["3 sizes right"]', ""), "commands.passed"),
        (lambda p: projects.edit(p, '"make -s"', '"make \'x"'), "commands.build"),
        (lambda p: projects.edit(p, '"make -s"', '" "'), "commands.build"),
        (lambda p: projects.edit(p, "[commands]", "args = []\n[commands]"), "args"),
        (
            lambda p: projects.edit(p, "[commands]", '[commands]\nresult = "fixed"'),
            "commands: result: no such",
        ),
        (
            lambda p: projects.edit(p, "[commands]", '[commands]\nreadable = ["/"]'),
            "commands.readable",
        ),
        (lambda p: projects.edit(p, "[commands]", '[commands]\npython = "v"'), "commands.python"),
        (bare_python, "commands.python"),
    ],
)
def test_what_is_wrong_is_said_with_file_and_field(
    tmp_path: Path, change: Change, about: str
) -> None:
    problem = projects.make(tmp_path)
    change(problem)
    with pytest.raises(BadInput) as refused:
        load_problem(problem)
    assert f"problem.toml: {about}" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_home_folder_is_never_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = projects.make(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "project" / "src"))
    with pytest.raises(BadInput):
        load_problem(problem)


def test_links_are_copied_as_links_and_what_is_excluded_is_not(tmp_path: Path) -> None:
    project = tmp_path / "project"
    (project / "build").mkdir(parents=True)
    (project / "build" / "big.o").write_bytes(b"1")
    (project / "run.sh").write_text("echo\n")
    (project / "run.sh").chmod(0o555)
    secret = tmp_path / "secret"
    secret.write_text("mine")
    (project / "link").symlink_to(secret)
    copy(project, tmp_path / "copy", ["build"])
    assert sorted(os.listdir(tmp_path / "copy")) == ["link", "run.sh"]
    assert (tmp_path / "copy" / "link").is_symlink()
    assert (tmp_path / "copy" / "run.sh").stat().st_mode & 0o777 == 0o755
    assert digest_of(tmp_path / "copy", ()) == digest_of(project, ["build"])
    (project / "run.sh").chmod(0o444)
    assert digest_of(tmp_path / "copy", ()) != digest_of(project, ["build"])


@pytest.mark.parametrize(
    ("right", "other", "same"),
    [
        ("sum 1.0000001", "sum 1.0000002", True),
        ("sum 1.001", "sum 1.002", False),
        ("12", "13", False),
        ("12000000", "12000001", False),
        ("nan 1", "nan 1", True),
        ("1.5", "nan", False),
        ("1.5", "inf", False),
        ("12", "1e999", False),
        ("inf", "1.5", False),
        ("1.5 2.5", "1.5", False),
        ("right", "", False),
    ],
)
def test_results_are_compared_word_by_word(right: str, other: str, same: bool) -> None:
    assert (first_difference(right.split(), other.split(), 1e-6) is None) == same


@pytest.mark.parametrize(
    ("head", "body"),
    [
        ("void twice(float* x)", "{}"),
        ("void a::B::twice(float* x) const", "{}"),
        ("void* twice(int n)", "{ return {}; }"),
        ("auto twice(int n) -> void*", "{ return {}; }"),
        ("std::vector<int> twice(int n)", "{ return {}; }"),
    ],
)
def test_a_function_in_cpp_has_a_head_and_can_do_nothing(head: str, body: str) -> None:
    text = f"int twice(int);\nvoid other() {{}}\n{head} {{ work(); }}\n"
    assert head_of(text, "twice", ".cpp") == head
    idle = doing_nothing(text, "twice", ".cpp")
    assert idle == f"int twice(int);\nvoid other() {{}}\n{head} {body}\n"
    assert doing_nothing(text, "thrice", ".cpp") is None


@pytest.mark.parametrize(
    "before",
    ["", "a = 1\n\x0c\n", "a = '\u2028'\n", "class Model:\n  class Part:\n"],
    ids=["alone", "form feed", "line separator", "in classes"],
)
def test_a_function_in_python_has_a_head_and_can_do_nothing(before: str) -> None:
    inside = "    " if before.startswith("class") else ""
    head = f"{before}{inside}def f(\n    x: int,\n):\n"
    text = f"{head}{inside}    '\u00e4'\n{inside}    return x\ny = 1\n"
    assert head_of(text, "f", ".py") == "def f( x: int, ):"
    assert doing_nothing(text, "f", ".py") == f"{head}{inside}    return None\ny = 1\n"
    assert doing_nothing("def f(x): return x\n", "f", ".py") == "def f(x): return None\n"
    assert doing_nothing("def f(:", "f", ".py") is None


def errors(problem: Path) -> dict[str, str]:
    """What errors are about -> their texts; a look is not taken twice where it found none."""
    settings = Settings(cache_dir=problem.parent / "cache")
    seen = check_problem(settings, str(problem))
    if not seen.errors:
        again = check_problem(settings, str(problem))
        assert (again.findings, again.seconds) == (seen.findings, None)
        assert "guarantee" in {finding.about for finding in seen.findings}
    return {finding.about: finding.text for finding in seen.errors}


@pytest.mark.parametrize(
    ("test", "what"),
    [
        (projects.TEST.replace("> 1e-4", "> 1e+4"), "nothing"),
        ("int main(void) { return 0; }\n#include <stdio.h>\n", "exit"),
    ],
    ids=["wide tolerance", "exit code alone"],
)
def test_tests_that_decide_nothing_are_refused(tmp_path: Path, test: str, what: str) -> None:
    problem = projects.make(tmp_path, test=test)
    if what == "exit":  # as ctest: who starts the test program believes its exit code
        makefile = tmp_path / "project" / "Makefile"
        makefile.write_text(
            makefile.read_text() + 'check: test\n\t./test && echo "3 sizes right"\n'
        )
        projects.edit(problem, '["./test"]', '["make check"]')
    found = errors(problem)
    assert set(found) == {"tests"}
    assert what in found["tests"]


@pytest.mark.parametrize("echoes", [False, True])
def test_a_bench_that_ignores_the_seed_is_refused_where_results_are_to_be_unknown(
    tmp_path: Path, echoes: bool
) -> None:
    bench = projects.BENCH.replace('getenv("REGRAPH_SEED")', "0")
    if echoes:
        bench = bench.replace("printf(", 'puts(getenv("REGRAPH_SEED")), printf(')
    problem = projects.make(tmp_path, bench=bench)
    assert "REGRAPH_SEED" in errors(problem)["commands"]


def test_a_function_that_the_file_lacks_is_an_error(tmp_path: Path) -> None:
    problem = projects.make(tmp_path)
    projects.edit(problem, 'entry = "smooth"', 'entry = "blur"')
    assert set(errors(problem)) == {"entry"}


def test_an_error_is_looked_for_again_as_programs_may_be_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = projects.make(tmp_path)
    with monkeypatch.context() as without:
        without.setattr(command_judge, "_PATH", "/nowhere")
        assert "make" in errors(problem)["commands"]
    assert not errors(problem)
