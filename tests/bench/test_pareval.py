"""ParEval's tasks as problems, of a made-up checkout in the same layout."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from regraph_kg.adopt.draft import Draft
from regraph_kg.bench import pareval
from regraph_kg.bench.pareval import MadeProblem, NotMade
from regraph_kg.errors import BadInput
from regraph_kg.evaluation.checkup.findings import error
from regraph_kg.evaluation.problem.home import load_home
from regraph_kg.evaluation.problem.problem import Problem, load_problem
from regraph_kg.models.target import Target
from regraph_kg.settings import Settings

HALVE, MIX, NAMES = "00_made_halve", "01_made_mix", "02_made_names"
SIZES = {
    HALVE: {"omp": "(1<<6)", "cuda": "(1<<8)"},
    MIX: {"omp": "(1<<4)", "cuda": "(1<<4)"},
    NAMES: {"omp": "9", "cuda": "9"},
}
BASELINES = {
    HALVE: """#pragma once
/* Half of each number, at least the least one. */
void NO_INLINE correctHalve(std::vector<int> &x) {
    for (size_t i = 0; i < x.size(); i += 1) { x[i] = std::max(LEAST, x[i] / 2); }
}
""",
    MIX: """#pragma once
double NO_INLINE correctMix(std::vector<Pair> const& pairs, std::vector<double> const& a,
                            size_t N) {
    double sum = 0;
    for (auto const& pair : pairs) { sum += pair.share; }
    for (size_t i = 0; i < N; i += 1) { sum += a[i]; }
    return sum;
}
""",
    NAMES: """#pragma once
size_t NO_INLINE correctNames(std::vector<std::string> const& names) {
    size_t sum = 0;
    for (size_t i = 0; i < names.size(); i += 1) { sum += names[i].size(); }
    return sum;
}
""",
}
HEADS = {
    HALVE: "const int LEAST = 3;\n/* Halve\n   {all} */\nvoid halve(std::vector<int> &x) {",
    MIX: "struct Pair {\n    size_t place;\n    double share;\n};\n"
    "double mix(std::vector<Pair> const& pairs, std::vector<double> const& a, size_t N) {",
    NAMES: "size_t names(std::vector<std::string> const& names) {",
}
INITS = {
    HALVE: "    ctx->x.resize(DRIVER_PROBLEM_SIZE);\n    fillRand(ctx->x, 0, 70);",
    MIX: "    ctx->N = DRIVER_PROBLEM_SIZE / 2;\n"
    "    const size_t nVals = ctx->N * ctx->N * SHARE;\n    ctx->pairs.resize(nVals);",
    NAMES: "    ctx->names.resize(DRIVER_PROBLEM_SIZE);",
}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    root = tmp_path / "checkout"
    for name, baseline in BASELINES.items():
        folder = root / "drivers/cpp/benchmarks/made" / name
        folder.mkdir(parents=True)
        (folder / "baseline.hpp").write_text(baseline)
        head = "".join(f"// {line}\n" for line in ("Driver", *HEADS[name].splitlines()))
        init = f"Context *init() {{\n{INITS[name]}\n}}\n"
        (folder / "cpu.cc").write_text(f"{head}\n#include <vector>\n\n{init}")
    (root / "drivers/problem-sizes.json").write_text(json.dumps(SIZES))
    (root / "drivers/cpp/utilities.hpp").write_text("#define SHARE 0.25\n")
    return root


@dataclass
class Adopting:
    """In place of what compiles: the drafts it was given, at which sizes it refuses, its notes."""

    drafts: list[Draft] = field(default_factory=list)
    refuses: BaseException | None = None
    whatever_the_sizes: bool = False
    notes: tuple[str, ...] = ()

    def adopt(self, draft: Draft, name: str, folder: Path) -> Any:
        self.drafts.append(draft)
        if self.refuses and (draft.said.sizes or self.whatever_the_sizes):
            raise self.refuses
        sizes = draft.said.sizes or dict.fromkeys(draft.sizes, 5)
        arguments = [arg for arg in draft.arguments() if not isinstance(arg.get("fields"), dict)]
        args = "".join(
            f"\n[[args]]\n{''.join(f'{k} = {json.dumps(v)}{chr(10)}' for k, v in arg.items())}"
            for arg in arguments
        )
        files = {"problem.toml": f'name = "{name}"\n{args}', "serial.cpp": ""}
        problem = SimpleNamespace(sizes=SimpleNamespace(time=sizes))
        return SimpleNamespace(files=files, problem=problem, notes=self.notes)


@pytest.fixture
def adopting(monkeypatch: pytest.MonkeyPatch) -> Adopting:
    """No compiler: what is adopted is written, and every look finds it good."""
    made = Adopting()
    monkeypatch.setattr("regraph_kg.bench.pareval.open_adopter", lambda *_: made)
    monkeypatch.setattr(
        "regraph_kg.bench.pareval.check_problem", lambda *_: SimpleNamespace(errors=())
    )
    return made


Make = Callable[..., MadeProblem | NotMade]


@pytest.fixture
def make(checkout: Path, tmp_path: Path) -> Make:
    def make(task: str, target: Target = "openmp") -> MadeProblem | NotMade:
        settings = Settings(cache_dir=tmp_path / "cache")
        return pareval.make(settings, checkout, task, target, tmp_path / "made", lambda _: None)

    return make


def good(found: MadeProblem | NotMade) -> MadeProblem:
    assert isinstance(found, MadeProblem), found
    return found


def why(found: MadeProblem | NotMade) -> str:
    assert isinstance(found, NotMade), found
    return found.why


def folders(tmp_path: Path) -> Iterator[str]:
    return (path.name for path in (tmp_path / "made").iterdir())


def test_tasks_are_those_of_the_folders_and_of_the_sizes(checkout: Path) -> None:
    (checkout / "drivers/problem-sizes.json").write_text(
        json.dumps({"03_made_gone": {}, HALVE: {}})
    )
    assert pareval.tasks(checkout) == (HALVE, MIX, NAMES, "03_made_gone")


def test_a_folder_that_is_no_checkout_is_refused_with_the_way_to_one(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"no folder drivers/cpp/benchmarks in it; .*git clone"):
        pareval.tasks(tmp_path)


@pytest.mark.parametrize("text", [None, "[]", "{", '{"00_made_halve": 3}'])
def test_sizes_that_are_missing_or_none_are_refused(checkout: Path, text: str | None) -> None:
    file = checkout / "drivers/problem-sizes.json"
    file.unlink()
    if text is not None:
        file.write_text(text)
    with pytest.raises(BadInput, match=r"problem-sizes\.json: .*git clone"):
        pareval.tasks(checkout)


@pytest.mark.parametrize("missing", ["baseline.hpp", "cpu.cc"])
def test_a_task_without_a_file_is_not_made_and_names_it(
    make: Make, checkout: Path, missing: str
) -> None:
    (checkout / "drivers/cpp/benchmarks/made" / HALVE / missing).unlink()
    assert f"{missing}: No such file" in why(make(HALVE))


def test_a_task_without_a_folder_or_a_size_is_not_made(make: Make, checkout: Path) -> None:
    assert "no folders 09_made_gone" in why(make("09_made_gone"))
    (checkout / "drivers/problem-sizes.json").write_text(json.dumps({HALVE: {"omp": "8"}}))
    assert f"no size of {HALVE} for cuda" in why(make(HALVE, "cuda"))


@pytest.mark.parametrize(
    ("text", "size"),
    [("(1<<10)", 1024), (" 1 << 4 ", 16), ("3*(2+1)", 9), ("(1<<10)-1", 1023), ("7", 7)],
)
def test_a_size_is_reckoned(text: str, size: int) -> None:
    assert pareval.size(text) == size


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').getpid()",
        "9**9**9",
        "1<<99",
        "(1<<39)*(1<<39)",
        "8/2",
        "N",
        "1.5",
        "0",
        "2-3",
        "",
        "(" * 5000,
        f"{'1+' * 60}1",
        "1<<-1",
    ],
)
def test_a_size_of_anything_else_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match="not a number from 1 on"):
        pareval.size(text)


def test_a_problem_is_timed_at_the_sizes_of_the_driver(make: Make, adopting: Adopting) -> None:
    assert good(make(HALVE)).note == ""
    assert adopting.drafts[-1].said.sizes == {"n": 64}
    make(MIX)
    assert adopting.drafts[-1].said.sizes == {"N": 8, "n": 16}  # N is half, n is N * N / 4


def test_sizes_that_are_refused_are_found_by_growing_and_that_is_noted(
    make: Make, adopting: Adopting
) -> None:
    adopting.refuses = BadInput("far too large")
    assert good(make(HALVE)).note == "timed at n=5, not ParEval's n=64: far too large"


def test_types_and_constants_of_the_head_comment_stand_before_the_baseline(
    make: Make, adopting: Adopting
) -> None:
    text = (good(make(HALVE)).folder / "baseline.cpp").read_text()
    assert "const int LEAST = 3;" in text
    assert "void halve" not in text
    assert "{all}" not in text
    assert adopting.drafts


def test_integers_lie_where_the_driver_draws_them(make: Make, adopting: Adopting) -> None:
    assert "range = [0, 69]" in (good(make(HALVE)).folder / "problem.toml").read_text()
    assert adopting.drafts


def test_an_array_of_an_answer_is_made_by_code(
    make: Make, adopting: Adopting, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = pareval._Answers(makes="x", inputs="    made = 0\n", note="as it is")
    monkeypatch.setitem(pareval._ANSWERS, HALVE, answers)
    made = good(make(HALVE))
    declared = (made.folder / "problem.toml").read_text()
    assert 'values = ["custom"]' in declared
    assert "range" not in declared
    compile((made.folder / "inputs.py").read_text(), "inputs.py", "exec")
    assert made.note == "as it is"
    assert adopting.drafts


def test_what_answers_say_is_code(make: Make) -> None:
    for answers in pareval._ANSWERS.values():
        compile(f"def generate(sizes, variant, rng):\n{answers.inputs}    return 0\n", "", "exec")


def test_a_task_with_strings_is_refused_and_leaves_nothing(
    make: Make, adopting: Adopting, tmp_path: Path
) -> None:
    said = why(make(NAMES))
    assert "std::string" in said
    assert str(tmp_path) not in said  # a draft's folder, gone by then
    assert not list(folders(tmp_path))
    assert not adopting.drafts


def test_a_problem_that_is_there_is_used_again(make: Make, adopting: Adopting) -> None:
    adopting.notes = ("its results hold NaN",)
    first = good(make(HALVE))
    assert make(HALVE) == first
    assert "NaN" in first.note
    assert len(adopting.drafts) == 1


def test_a_problem_of_another_text_is_not_used(
    make: Make, adopting: Adopting, checkout: Path
) -> None:
    made = good(make(HALVE))
    file = checkout / "drivers/cpp/benchmarks/made" / HALVE / "baseline.hpp"
    file.write_text(file.read_text().replace("/ 2", "/ 3"))
    assert (
        why(make(HALVE)) == f"{made.folder}: not made of this task as it is now; remove the folder"
    )
    assert len(adopting.drafts) == 1


def test_what_was_stopped_leaves_nothing_and_is_made_anew(
    make: Make, adopting: Adopting, tmp_path: Path
) -> None:
    adopting.refuses, adopting.whatever_the_sizes = KeyboardInterrupt(), True
    with pytest.raises(KeyboardInterrupt):
        make(HALVE)
    assert not list(folders(tmp_path))
    adopting.refuses = None
    good(make(HALVE))


def test_a_problem_that_fails_its_check_is_not_made(
    make: Make, adopting: Adopting, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failed = SimpleNamespace(errors=(error("serial code", "never ends"),))
    monkeypatch.setattr("regraph_kg.bench.pareval.check_problem", lambda *_: failed)
    assert why(make(HALVE)) == "serial code: never ends"
    assert not list(folders(tmp_path))
    assert [bool(draft.said.sizes) for draft in adopting.drafts] == [True, False]


def test_targets_of_one_size_share_a_problem(make: Make, adopting: Adopting) -> None:
    names = {make(task, target).name for task in (HALVE, MIX) for target in ("openmp", "cuda")}
    assert names == {"pareval-00-made-halve", "pareval-00-made-halve-cuda", "pareval-01-made-mix"}
    assert len(adopting.drafts) == 3


@pytest.mark.slow
def test_a_task_becomes_a_problem_that_can_be_carried_elsewhere(
    make: Make, tmp_path: Path, checkout: Path
) -> None:
    made = good(make(HALVE))
    moved = made.folder.rename(tmp_path / "elsewhere")
    problem = load_problem(moved)
    assert isinstance(problem, Problem)
    assert (problem.name, dict(problem.sizes.time)) == ("pareval-00-made-halve", {"n": 64})
    home = load_home(moved)
    assert home is not None
    assert home.file == "baseline.cpp"
    assert home.fits((moved / home.file).read_bytes())
    texts = [path.read_text() for path in moved.iterdir()]
    assert not any(str(tmp_path) in text for text in texts)
