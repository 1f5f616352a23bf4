"""`regraph problem new` as people call it: functions of a file become problems and are judged."""

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from regraph_kg.evaluation.problem.home import load_home
from regraph_kg.evaluation.problem.problem import load_problem
from regraph_kg.settings import Settings
from tests.in_process import regraph
from tests.stores import stop_embedded

TASKS = Path(__file__).parent / "tasks.cpp"
Run = Callable[..., "CompletedProcess[str]"]


@pytest.fixture
def run(cache: Path, tmp_path: Path) -> Run:
    def run(*args: str) -> "CompletedProcess[str]":
        env = {"REGRAPH_CACHE_DIR": str(cache), "REGRAPH_DATA_DIR": str(tmp_path / "data")}
        return regraph(*args, folder=tmp_path, env=env)

    return run


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("function", "sizes"),
    [
        ("dot", ["n=20000"]),
        ("relu", ["n=20000"]),
        ("gemm", ["m=60", "n=70", "k=80"]),
        ("prefix_sum", ["n=20000"]),
        ("jacobi", ["rows=200", "cols=100"]),
        ("count_above", ["n=20000"]),
        ("transpose", ["m=200", "n=100"]),
        ("convolve", ["x_size=5000", "w_size=50"]),
        ("sort_ascending", ["n=20000"]),
        ("image::gain", ["n=20000"]),
        ("Filters::rows", ["count=300"]),
        ("largest<float>", ["n=20000"]),
        ("mark", ["n=20000"]),
    ],
)
def test_a_function_becomes_a_problem_whose_serial_code_passes(
    run: Run, tmp_path: Path, function: str, sizes: list[str]
) -> None:
    flags = [word for size in sizes for word in ("--size", size)]
    made = run("problem", "new", str(TASKS), "--function", function, "--to", "own", *flags)
    assert made.returncode == 0, made.stdout + made.stderr
    assert "left out: not/installed.h" in made.stdout
    assert made.stdout.splitlines()[-1] == "next: regraph optimize own/"
    judged = run("evaluate", "own/", "own/serial.cpp")
    assert judged.returncode == 0, judged.stdout + judged.stderr
    kept = load_home(tmp_path / "own")
    assert kept is not None
    assert kept.fits(TASKS.read_bytes())
    assert kept.declaration.startswith('extern "C" ')
    assert f" {kept.entry}(" in kept.declaration


@pytest.mark.nightly
def test_the_timing_size_is_grown(run: Run, tmp_path: Path) -> None:
    (tmp_path / "own.cpp").write_text(
        "#include <cmath>\nvoid f(const float* x, float* y, int n) {\n"
        "  for (int i = 0; i < n; ++i) {\n    float sum = 0;\n"
        "    for (int k = 0; k < 500; ++k) sum += std::sin(x[i] * k);\n"
        "    y[i] = sum;\n  }\n}\n"
    )
    made = run("problem", "new", "own.cpp", "--function", "f")
    assert made.returncode == 0, made.stdout + made.stderr
    assert load_problem(tmp_path / "f").sizes.time["n"] > 1000


@pytest.mark.nightly
def test_a_quotient_of_sizes_grows_with_them(run: Run, tmp_path: Path) -> None:
    (tmp_path / "own.cpp").write_text(
        "#include <vector>\n"
        "void f(const std::vector<float>& a, std::vector<float>& y, int cols) {\n"
        "  int rows = a.size() / cols;\n"
        "  for (int r = 0; r < rows; r++) {\n"
        "    float m = a[r * cols];\n"
        "    for (int c = 1; c < cols; c++) if (a[r * cols + c] > m) m = a[r * cols + c];\n"
        "    y[r] = m;\n  }\n}\n"
    )
    made = run("problem", "new", "own.cpp", "--function", "f")
    assert made.returncode == 0, made.stdout + made.stderr
    sizes = load_problem(tmp_path / "f").sizes.time
    assert sizes["n"] // sizes["cols"] > 100


@pytest.mark.slow
def test_a_said_tolerance_is_the_problems(run: Run, tmp_path: Path) -> None:
    flags = ("--size", "n=20000", "--tolerance", "0.5")
    made = run("problem", "new", str(TASKS), "--function", "relu", *flags)
    assert made.returncode == 0, made.stdout + made.stderr
    assert "tolerance = { absolute = 0.5 }" in (tmp_path / "relu/problem.toml").read_text()


@pytest.mark.nightly
def test_a_function_that_never_ends_is_stopped(run: Run, tmp_path: Path) -> None:
    (tmp_path / "own.cpp").write_text(
        "void f(float* x, int n) { for (volatile int i = 0; i < n;) x[i] = 1; }\n"
    )
    made = run("problem", "new", "own.cpp", "--function", "f", "--shape", "x=n")
    assert made.returncode == 2
    assert "no result after 10 s" in made.stderr
    assert not (tmp_path / "f").exists()


def test_a_bad_call_is_one_line_and_writes_nothing(run: Run, tmp_path: Path) -> None:
    for words, why in (
        (["nowhere.cpp", "--function", "f"], "nowhere.cpp: No such file"),
        *(
            ([str(TASKS), "--function", "relu", f"--tolerance={text}"], f"{text}: exact, or a")
            for text in ("x", "0", "-1", "nan", "inf")
        ),
        (
            [str(TASKS), "--function", "relu", "--size", "n=-1"],
            "--size n=-1: give a whole",
        ),
        ([str(TASKS), "--function", "relu", "--role", "x"], "write it as NAME=..."),
        ([str(TASKS), "--function", "relu", "--to", "."], "there is something there"),
    ):
        (tmp_path / "kept").touch()
        done = run("problem", "new", *words)
        assert done.returncode == 2
        assert why in done.stderr
        assert done.stderr.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir() if path.name != "data"] == ["kept"]


@pytest.mark.slow
def test_a_length_nobody_saw_is_tried_as_the_one_that_is_said(run: Run, tmp_path: Path) -> None:
    code = Path("benchmarks/strangers/softmax-xent/code.cpp").resolve()
    function = "nn::SoftmaxCrossEntropy::forward"
    said = ("--shape", "logits=labels_size,10", "--values", "labels=0..9")
    made = run("problem", "new", str(code), "--function", function, "--to", "own", *said)
    assert made.returncode == 0, made.stdout + made.stderr
    assert "grad: as long as logits" in made.stdout


@pytest.mark.slow
def test_a_result_of_another_length_than_was_said_is_named(run: Run, tmp_path: Path) -> None:
    code = "std::vector<float> f(const std::vector<float>& x) { return {x.begin() + 1, x.end()}; }"
    (tmp_path / "own.cpp").write_text(f"#include <vector>\n{code}\n")
    said = ("--shape", "result=x_size")
    made = run("problem", "new", "own.cpp", "--function", "f", "--to", "own", *said)
    assert made.returncode != 0
    assert "result is not " in made.stderr


@pytest.mark.nightly
def test_a_header_that_is_needed_and_not_here_is_named(run: Run, tmp_path: Path) -> None:
    (tmp_path / "own.cpp").write_text(
        "#include <not/here.h>\n"
        "void f(float* x, int n) { for (int i = 0; i < n; ++i) x[i] = g(i); }\n"
    )
    made = run("problem", "new", "own.cpp", "--function", "f")
    assert made.returncode == 2
    assert "headers that are not here: not/here.h" in made.stderr


@pytest.mark.parametrize(
    "head", ["double f(double s, int steps)", "void f(double s, int k, double* y)", "int f()"]
)
def test_a_function_of_one_value_each_is_refused_at_once(
    run: Run, tmp_path: Path, head: str
) -> None:
    last = "y[0] = s * k;" if "*" in head else "return 3;"
    (tmp_path / "own.cpp").write_text(f"{head} {{ {last} }}\n")
    made = run("problem", "new", "own.cpp", "--function", "f")
    assert made.returncode == 2
    assert "own.cpp, line 1: each argument of f is one scalar value" in made.stderr
    assert not (tmp_path / "f").exists()


def test_a_header_that_is_not_here_and_may_decide_what_is_compiled_is_asked_for(
    run: Run, tmp_path: Path
) -> None:
    (tmp_path / "own.cpp").write_text(
        '#include "config.h"\nvoid f(float* x, int n) {\n#ifdef SMOOTH  // as configured\n'
        "  for (int i = 1; i < n; ++i) x[i] += x[i - 1];\n#else\n"
        "  for (int i = 0; i < n; ++i) x[i] *= 2;\n#endif\n}\n"
    )
    words = ("problem", "new", "own.cpp", "--function", "f", "--size", "n=1000")
    refused = run(*words)
    assert refused.returncode == 2
    assert "#if asks for SMOOTH, which config.h may define" in refused.stderr
    (tmp_path / "config.h").write_text("#define SMOOTH\n")
    assert run(*words).returncode == 0
    assert "x[i - 1]" in (tmp_path / "f" / "serial.cpp").read_text()


@pytest.mark.nightly
def test_optimize_makes_the_problem_of_a_function_once(run: Run, tmp_path: Path) -> None:
    text = (
        '#include <vector>\n#include "gain.h"\nvoid scale(std::vector<float>& x, float by) {\n'
        "  for (size_t i = 0; i < x.size(); ++i) x[i] *= by + GAIN;\n}\n"
    )
    (tmp_path / "own.cpp").write_text(text)
    (tmp_path / "gain.h").write_text("#define GAIN 1\n")
    words = ("optimize", "own.cpp", "--function", "scale", "--model", "batch:asked", "--starter")
    made = run(*words)  # no terminal to ask on: it takes what is inferred, and says it
    assert "x            float32  [n], inout" in made.stdout
    assert made.returncode == 5, made.stderr
    waiting = run(*words)
    stop_embedded(Settings(data_dir=tmp_path / "data"))
    assert waiting.returncode == 5, waiting.stderr
    assert "scale/: made of scale before" in waiting.stderr
    (tmp_path / "gain.h").write_text("#define GAIN 2\n")
    changed = run(*words)
    assert changed.returncode == 2
    assert "was made of another content of own.cpp" in changed.stderr


def test_problems_are_listed(run: Run, tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "problem.toml").write_text("schema = 1\n")
    listed = json.loads(run("problem", "check", "--list", "--json").stdout)
    assert listed["matmul"] == "matmul, shipped with regraph"
    assert listed["own"] == "own/"
