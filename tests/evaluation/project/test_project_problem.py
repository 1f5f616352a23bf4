"""problem.toml with [commands]: what is read, what is refused; the look at such a problem."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from regraph_kg.errors import BadInput
from regraph_kg.evaluation.checkup.own_commands import ProjectChecker, keeping_first, survival
from regraph_kg.evaluation.problem.functions import find, head_of, with_body
from regraph_kg.evaluation.problem.problem import load_problem
from regraph_kg.evaluation.problem.project import ProjectProblem
from regraph_kg.evaluation.problem.tree import copy, digest_of
from regraph_kg.evaluation.project import commands
from regraph_kg.evaluation.project.commands import first_difference, printed
from regraph_kg.evaluation.project.session import ProjectSession
from regraph_kg.evaluation.rules import Failure
from regraph_kg.models.evaluation import Outcome

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


def test_only_a_newline_ends_a_marked_line(tmp_path: Path) -> None:
    problem = projects.make(tmp_path)
    projects.edit(problem, "[commands]", '[commands]\nbetween = ["// begin", "// end"]')
    file = tmp_path / "project" / "src" / "kernel.cpp"
    file.write_text(f"// begin\fof it\u2028all\n{projects.KERNEL}// end\n", encoding="utf-8")
    assert loaded(problem).serial_code == projects.KERNEL


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


def test_reports_name_a_build_on_one_plain_line(tmp_path: Path) -> None:
    problem = projects.make(tmp_path)
    projects.edit(problem, '"make -s"', "\"make -s 'a\\n\\u001b[2Jb'\"")
    assert loaded(problem).toolchain.startswith(
        "the project's own build (make -s 'a [2Jb'; ./bench"
    )


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
    ("change", "said"),
    [
        (lambda p: projects.edit(p, '"../project"', '"../nowhere"'), "nowhere is no folder"),
        (lambda p: projects.edit(p, "src/kernel.cpp", "src/none.cpp"), "none.cpp is no file"),
        (lambda p: projects.edit(p, "src/kernel.cpp", "../x.cpp"), "inside the project's folder"),
        (lambda p: projects.edit(p, "src/kernel.cpp", "/etc/passwd"), "inside the project's"),
        (outside, "kernel.cpp is no file"),
        (lambda p: projects.edit(p, 'passed = ["3 sizes right"]', ""), "commands.passed: Field"),
        (lambda p: projects.edit(p, "passed =", "expected ="), "did you mean|Field required"),
        (lambda p: projects.edit(p, '"make -s"', '"make \'x"'), "No closing quotation"),
        (lambda p: projects.edit(p, '"make -s"', '" "'), "no command"),
        (lambda p: projects.edit(p, "[commands]", "args = []\n[commands]"), "no such field"),
        (
            lambda p: projects.edit(p, "[commands]", '[commands]\nbetween = ["smooth", "no"]'),
            "lines hold 'smooth', not one",
        ),
        (lambda p: projects.edit(p, "[commands]", '[commands]\nreadable = ["/"]'), "path below /"),
        (
            lambda p: projects.edit(p, "[commands]", '[commands]\npython = "venv"'),
            "no virtual environment",
        ),
        (bare_python, "no virtual environment"),
    ],
)
def test_what_is_wrong_is_said_with_file_and_field(
    tmp_path: Path, change: Change, said: str
) -> None:
    problem = projects.make(tmp_path)
    change(problem)
    with pytest.raises(BadInput, match=said) as refused:
        load_problem(problem)
    assert "problem.toml: " in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_home_folder_is_never_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = projects.make(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "project" / "src"))
    with pytest.raises(BadInput, match="holds your home folder"):
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
    ("one", "other", "said"),
    [
        ("sum 1.0000001", "sum 1.0000002", None),
        ("sum 1.001", "sum 1.002", "word 2 is '1.002', not '1.001'"),
        ("12", "13", "word 1 is '13', not '12'"),
        ("12000000", "12000001", "word 1 is '12000001'"),
        ("nan 1", "nan 1", None),
        ("1.5", "nan", "word 1"),
        ("1.5", "inf", "word 1"),
        ("1.5", "-inf", "word 1"),
        ("12", "1e999", "word 1"),
        ("inf", "1.5", "word 1"),
        ("1.5 2.5", "1.5", "1 words, not 2"),
        ("right", "", "0 words, not 1"),
        ("1.5\nregraph-seconds 0.1\n", "regraph-seconds 0.7\n1.5", None),
    ],
)
def test_results_are_compared_word_by_word(one: str, other: str, said: str | None) -> None:
    found = first_difference(printed(one), printed(other), 1e-6)
    assert found == said if said is None else said in str(found)


def test_functions_are_found_in_cpp_and_python() -> None:
    cpp = "namespace a { template <class T> T* twice(T* x) { return x; } }\nint twice(int);\n"
    found = find("int twice(long) = delete;\n" + cpp, "twice", python=False)
    assert found is not None
    assert not found.is_void
    cpp = "int twice(long) = delete;\n" + cpp
    assert "T* twice(T* x) {}" in with_body(cpp, found, "{}")
    python = "class Model:\n    def forward(self, x):\n        '''ä'''\n        return x\n\ny = 1\n"
    method = find(python, "forward", python=True)
    assert method is not None
    changed = with_body(python, method, "return None")
    assert changed == "class Model:\n    def forward(self, x):\n        return None\n\ny = 1\n"
    assert head_of(python, "forward", python=True) == "def forward(self, x):"
    long = "def f(x):\n    return (\n        x\n    )\n"
    function = find(long, "f", python=True)
    assert function is not None
    assert with_body(long, function, "return None") == "def f(x):\n    return None\n"
    assert find("def f(:", "f", python=True) is None


@pytest.mark.parametrize(
    "before",
    ["a = 1\n\x0c\n", "a = '\u2028'\n", "a = 1\r\n", "b = 'ä\x85'\r", "x = '\x1c\v'\n"],
    ids=["form feed", "line separator", "CRLF", "CR", "other separators"],
)
def test_a_python_function_stands_where_the_parser_says(before: str) -> None:
    text = f"{before}def f(x):\n    return x\n"
    found = find(text, "f", python=True)
    assert found is not None
    assert with_body(text, found, "pass") == f"{before}def f(x):\n    pass\n"


def test_a_python_function_may_begin_with_a_decorated_one() -> None:
    text = "def f(x):\n    @cache\n    def g(): return x\n    return g()\n"
    found = find(text, "f", python=True)
    assert found is not None
    assert with_body(text, found, "return None") == "def f(x):\n    return None\n"


def test_a_python_function_is_reached_through_its_classes_only() -> None:
    text = (
        "def outer():\n    def inner(): pass\nclass A:\n    class B:\n        def f(self): pass\n"
    )
    for name, reached_by in (("outer", "outer"), ("inner", ""), ("f", "A.B.f")):
        found = find(text, name, python=True)
        assert found is not None
        assert found.reached_by == reached_by


class NoBuild(ProjectSession):
    """A session whose tests find whatever they are given."""

    def __init__(self, problem: ProjectProblem) -> None:
        self.problem = problem

    def build(self, code: str) -> Failure | None:
        return None

    def test(self) -> Failure | None:
        return Failure(Outcome.WRONG_ANSWER, "SyntaxError")


def test_a_mutant_that_is_no_python_shows_nothing_of_the_tests(tmp_path: Path) -> None:
    problem = loaded(projects.make(tmp_path))
    python = problem.model_copy(
        update={"commands": problem.commands.model_copy(update={"file": "kernel.py"})}
    )
    assert list(survival(NoBuild(python), "does nothing", "def f(): pass\n")) == []
    (found,) = survival(NoBuild(python), "does nothing", "def f():\n")
    assert "not known whether they find a smooth that does nothing" in str(found)


@pytest.mark.parametrize(
    ("head", "is_void"),
    [
        ("void twice(float* x)", True),
        ("void a::B::twice(float* x) const", True),
        ("void* twice(int n)", False),
        ("auto twice(int n) -> void*", False),
        ("std::vector<int> twice(int n)", False),
    ],
)
def test_whether_a_function_returns_something_is_read_from_its_head(
    head: str, is_void: bool
) -> None:
    found = find(f"void other() {{}}\n{head} {{ work(); }}\n", "twice", python=False)
    assert found is not None
    assert found.is_void == is_void
    assert head_of(f"{head} {{ work(); }}", "twice", python=False) == head


def findings(problem: Path) -> str:
    """Lines of a look, which is not taken twice where it found no error."""
    cache = problem.parent / "cache"
    seen = ProjectChecker(cache, lambda _: None).check(loaded(problem))
    if not seen.errors:
        again = ProjectChecker(cache, lambda _: None).check(loaded(problem))
        assert (again.findings, again.seconds) == (seen.findings, None)
    return "\n".join(f"{finding.severity} {finding}" for finding in seen.findings)


@pytest.mark.parametrize(
    ("test", "what"),
    [
        (projects.TEST.replace("> 1e-4", "> 1e+4"), "does nothing"),
        (
            projects.TEST.replace(
                "int main(void) {", 'int main(void) {\n    puts("3 sizes right"), fflush(stdout);'
            ),
            "ends the process with exit code 0",
        ),
    ],
    ids=["wide tolerance", "words before the work"],
)
def test_tests_that_decide_nothing_are_refused(tmp_path: Path, test: str, what: str) -> None:
    found = findings(projects.make(tmp_path, test=test))
    assert f"error tests: a smooth that {what} passes them" in found
    assert ("ctest and make believe exit code 0" in found) == ("ends the process" in found)


def test_tests_of_a_project_in_c_that_decide_nothing_are_refused(tmp_path: Path) -> None:
    files = {
        "smooth.c": "double smooth(const double* x, int n) { return n ? x[n - 1] : 0; }\n",
        "smooth.h": "double smooth(const double*, int);\n",
        "test.c": '#include <stdio.h>\n#include "smooth.h"\n'
        'int main(void) { double x = 1; smooth(&x, 1); puts("1 right"); return 0; }\n',
        "bench.c": '#include <stdio.h>\n#include <stdlib.h>\n#include "smooth.h"\n'
        'int main(void) { double x = atoi(getenv("REGRAPH_SEED"));'
        ' printf("%.1f\\n", smooth(&x, 1) / 2); return 0; }\n',
    }
    problem = projects.make(tmp_path)
    for name, text in files.items():
        (tmp_path / "project" / name).write_text(text)
    commands = '["gcc smooth.c test.c -o test", "gcc smooth.c bench.c -o bench"]'
    projects.edit(problem, "src/kernel.cpp", "smooth.c")
    projects.edit(problem, '["make -s"]', commands)
    projects.edit(problem, "3 sizes", "1")
    found = findings(problem)
    assert "error tests: a smooth that does nothing passes them" in found
    assert "bench: not known whether it finds code that keeps its first result" in found


@pytest.mark.parametrize("echoes", [False, True])
def test_a_bench_that_ignores_the_seed_is_refused_where_results_are_to_be_unknown(
    tmp_path: Path, echoes: bool
) -> None:
    bench = projects.BENCH.replace('getenv("REGRAPH_SEED")', "0")
    if echoes:
        bench = bench.replace("printf(", 'puts(getenv("REGRAPH_SEED")), printf(')
    problem = projects.make(tmp_path, bench=bench)
    assert "error commands: the bench prints the same whatever REGRAPH_SEED" in findings(problem)
    if not echoes:
        projects.edit(problem, "[commands]", '[commands]\nresult = "fixed"')
        found = findings(problem)
        assert "error" not in found
        assert "so that code may know it without computing it" in found


REPEATS = projects.BENCH.replace("smooth(x", "for (int k = 0; k < 3; ++k) smooth(x")
FEEDS_BACK = REPEATS.replace("smooth(x", "{ smooth(x").replace(
    "n, 400);", "n, 90); for (int i = 0; i < n; ++i) x[i] = 2 * y[i]; }"
)
KEEPS = "computes in its first call only, and gives that result each time, prints the right result"


@pytest.mark.parametrize(("bench", "told"), [(REPEATS, True), (FEEDS_BACK, False)])
def test_a_bench_that_keeping_results_would_fool_is_told(
    tmp_path: Path, bench: str, told: bool
) -> None:
    found = findings(projects.make(tmp_path, bench=bench))
    assert found.startswith("note guarantee: weaker than the judge's own checks")
    assert "error" not in found
    assert (f"note bench: a smooth that {KEEPS}" in found) == told


def test_a_function_that_returns_a_value_is_tried_with_its_first_one(tmp_path: Path) -> None:
    problem = loaded(projects.make(tmp_path, kernel=projects.KERNEL + VALUE))
    problem = problem.model_copy(update={"entry": "value"})
    function = find(problem.serial_code, "value", python=False)
    assert function is not None
    path = tmp_path / "value.cpp"
    path.write_text(keeping_first(problem, function) + "int main() { return value(3) + value(4); }")
    subprocess.run(
        ["g++", "-I", tmp_path / "project" / "src", path, "-o", tmp_path / "value"], check=True
    )
    ran = subprocess.run([tmp_path / "value"], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr.split()) == (6, ["regraph-called-again"])


VALUE = "int value(int x) { return x; }\n"


def test_a_function_that_the_file_lacks_is_an_error(tmp_path: Path) -> None:
    problem = projects.make(tmp_path)
    projects.edit(problem, 'entry = "smooth"', 'entry = "blur"')
    assert "error entry: src/kernel.cpp defines no function blur" in findings(problem)


def test_an_error_is_looked_for_again_as_programs_may_be_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = projects.make(tmp_path)
    with monkeypatch.context() as without:
        without.setattr(commands, "_PATH", "/nowhere")
        assert "error commands: commands: no program 'make'" in findings(problem)
    assert "error" not in findings(problem)


def test_a_project_that_does_not_build_is_an_error(tmp_path: Path) -> None:
    problem = projects.make(tmp_path, kernel=projects.KERNEL + "nonsense")
    assert "error commands: the build of the project as it stands fails" in findings(problem)
