"""ParEval's tasks as problems, made from a user's checkout; this package holds nothing of it.

A task's serial baseline becomes the function that candidates replace. It is timed at ParEval's own
size where that can be judged here. Not covered: ParEval's drivers, validators and inputs.
"""

import ast
import json
import operator
import re
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from regraph_kg.adopt.adopt import Adopted
from regraph_kg.adopt.draft import Draft, Said
from regraph_kg.adopt.reading import Read, understand
from regraph_kg.adopt.texts import problem_name, toml
from regraph_kg.bench.suites import Tell
from regraph_kg.errors import BadInput, file_errors
from regraph_kg.evaluation.cpp.syntax import functions, read
from regraph_kg.evaluation.problem.problem import shape_text
from regraph_kg.models.target import Target
from regraph_kg.settings import Settings
from regraph_kg.wiring.problems import check_problem, open_adopter

VALIDATION_NOTE = (
    "Verdicts are this project's own and may differ from ParEval's, whose drivers compare floats"
    " within a fixed distance (1e-3 to 1e-6 by task), mostly let NaN pass, as no comparison with it"
    " is true, and draw other inputs; here a tolerance is calibrated for each problem, and a NaN"
    " that the serial code does not give is wrong. ParEval's CUDA tasks ask for a kernel on arrays"
    " of the device; here a host function is asked for, whose calls include what it copies."
)

_BENCHMARKS = Path("drivers/cpp/benchmarks")
_SIZES = Path("drivers/problem-sizes.json")
_UTILITIES = Path("drivers/cpp/utilities.hpp")
_REMEDY = "give the folder that git clone https://github.com/parallelcodefoundry/ParEval makes"
_MODELS: Mapping[Target, str] = {"openmp": "omp", "cuda": "cuda"}
"""Names of targets in problem-sizes.json."""
_SOURCE, _NOTE = "baseline.cpp", "note.txt"
"""Extra files of a made problem."""
_HEADERS = "algorithm array climits cmath complex cstddef functional limits map numeric queue"
_HEADERS += " string utility vector"
_NUMBER = "DRIVER_PROBLEM_SIZE"
"""The drivers' name of a task's size."""
_LETTERS, _BITS = 120, 40
"""Most letters and bits of a size."""
_TASK = re.compile(r"\d+_[\w-]+")
_INIT = re.compile(r"\*\s*init\(\) *\{(.*?)\n\}", re.DOTALL)
_SET = re.compile(r"(?:ctx->|size_t )(\w+) *= *([^;]+);")
_LENGTH = re.compile(r"ctx->(\w+)\.resize\(([^;]+)\);")
_DRAWN = re.compile(r"fillRand\(ctx->(\w+), (-?\d+)(?:\.0)?, (-?\d+)(?:\.0)?\);")
_DEFINED = re.compile(r"^#define[ \t]+(\w+)[ \t]+(\d+(?:\.\d+)?)[ \t]*$", re.MULTILINE)
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)


@dataclass(frozen=True, slots=True)
class MadeProblem:
    """A task as a problem that passed its check."""

    name: str
    """The task's name as a problem's."""
    folder: Path
    note: str
    """The difference to ParEval; "" where its own size is used."""


@dataclass(frozen=True, slots=True)
class NotMade:
    """A task that cannot be a problem here."""

    name: str
    why: str


@dataclass(frozen=True, slots=True)
class _Answers:
    """Facts on arguments that a baseline's text does not say."""

    shapes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    values: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    outs: tuple[str, ...] = ()
    """Arrays that are wholly overwritten, though the text does not show it."""
    sizes: Mapping[str, str] = field(default_factory=dict)
    """Expressions for sizes that the driver draws at random."""
    makes: str = ""
    """The array that inputs.py makes, in three variants."""
    inputs: str = ""
    """Its code: `made` from `sizes`, `variant` and `rng`."""
    note: str = ""


_GRAPH = """    n = sizes["N"]
    half = np.triu(rng.random((n, n), np.float32) < (4 / n, 0.5, 1 / n)[variant], 1)
    made = (half | half.T).astype(np.int32)
"""
_LATE = """    n = sizes["n"]
    made = 2 * rng.integers(1, 20, n, np.int32) + 1
    made[rng.integers(n // 4, max(3 * n // 4, n // 4 + 1), 2)] += variant < 2
"""
_RANKED = """    made = rng.permutation(sizes["n"]).astype(np.float32) - 100
"""
_TIES = "equal keys must lie as its std::sort leaves them, as ParEval's validator has it"
_NAN = "its results hold NaN for inputs such as are made here, so that little of it is judged"
_SQUARE, _PATH = {"A": ("N", "N")}, {"source": ("0",), "dest": ("1",)}
_ANSWERS = {
    "15_graph_edge_count": _Answers(ranges={"A": (0, 1)}),
    "16_graph_largest_component": _Answers(_SQUARE, makes="A", inputs=_GRAPH),
    "17_graph_highest_degree": _Answers(makes="A", inputs=_GRAPH),
    "18_graph_count_components": _Answers(_SQUARE, makes="A", inputs=_GRAPH),
    "19_graph_shortest_path": _Answers(_SQUARE, _PATH, makes="A", inputs=_GRAPH),
    "21_histogram_bin_0-100": _Answers(ranges={"x": (0, 100)}),
    "29_reduce_sum_of_min_of_pairs": _Answers({"y": ("x_size",)}),
    "30_scan_prefix_sum": _Answers(outs=("output",)),
    "33_scan_reverse_prefix_sum": _Answers(outs=("output",)),
    "38_search_find_the_first_even_number": _Answers(makes="x", inputs=_LATE),
    "40_sort_sort_an_array_of_complex_numbers_by_magnitude": _Answers({}, {"x": ("normal",)}),
    "41_sort_k-th_smallest_element": _Answers({"x": ("2*k",)}, sizes={"k": f"{_NUMBER} / 2"}),
    "42_sort_sorted_ranks": _Answers(outs=("ranks",), makes="x", inputs=_RANKED),
    "43_sort_sort_an_array_of_structs_by_key": _Answers(note=_TIES),
    "48_sparse_la_sparse_axpy": _Answers({"z": ("10*x_size",)}),
    "51_stencil_edge_kernel": _Answers(outs=("imageOut",)),
    "54_stencil_game_of_life": _Answers(outs=("output",)),
}
"""By task: answers where the text alone is unclear or would make another task."""


def tasks(checkout: Path) -> tuple[str, ...]:
    """Names of all tasks, sorted. Raises `BadInput` where this is no checkout of ParEval."""
    if not (checkout / _BENCHMARKS).is_dir():
        raise BadInput(f"{checkout}: no folder {_BENCHMARKS} in it; {_REMEDY}")
    folders = {path.name for path in (checkout / _BENCHMARKS).glob("*/*") if path.is_dir()}
    names = {name for name in folders | set(_sizes(checkout)) if _TASK.fullmatch(name)}
    if not names:
        raise BadInput(f"{checkout / _BENCHMARKS}: no task in it; {_REMEDY}")
    return tuple(sorted(names))


def make(
    settings: Settings, checkout: Path, task: str, target: Target, into: Path, tell: Tell
) -> MadeProblem | NotMade:
    """The task's problem in `into`, made now or before, with a passed check."""
    name = _name(checkout, task, target)
    folder = into / name
    try:
        text, facts = _text(checkout, task), _Facts(checkout, task, target)
        if not folder.exists():
            _make(settings, folder, text, facts, tell)
        elif not (folder / _NOTE).is_file() or _read(folder / _SOURCE) != text:
            raise BadInput(f"{folder}: not made of this task as it is now; remove the folder")
        _require_good(settings, folder, tell)
        return MadeProblem(name, folder, (folder / _NOTE).read_text("utf-8").strip())
    except BadInput as error:
        return NotMade(name, str(error))


def _name(checkout: Path, task: str, target: Target) -> str:
    """A problem's name; one for each size, so that targets of one size share it."""
    sizes = _sizes(checkout).get(task, {})
    shared = sizes.get(_MODELS[target]) == sizes.get(_MODELS["openmp"])
    end = "" if shared else f"-{target}"
    return f"{problem_name(f'pareval-{task}')[: 64 - len(end)].rstrip('-')}{end}"


def _sizes(checkout: Path) -> dict[str, dict[str, str]]:
    """Sizes as problem-sizes.json has them, by task and model."""
    path = checkout / _SIZES
    with file_errors(path, _REMEDY):
        content = path.read_bytes()
    try:
        rows = json.loads(content)
        return {str(task): {str(k): str(v) for k, v in row.items()} for task, row in rows.items()}
    except (ValueError, AttributeError, RecursionError):
        raise BadInput(f"{path}: no JSON of sizes by task and model; {_REMEDY}") from None


def _read(path: Path) -> str:
    with file_errors(path, "git checkout -- . restores it"):
        return path.read_text("utf-8", "replace")


def _folder(checkout: Path, task: str) -> Path:
    folders = [path for path in (checkout / _BENCHMARKS).glob(f"*/{task}") if path.is_dir()]
    if len(folders) != 1:
        raise BadInput(f"{checkout / _BENCHMARKS}: {len(folders) or 'no'} folders {task} in it")
    return folders[0]


def _text(checkout: Path, task: str) -> str:
    """The baseline, with standard headers and the driver's declarations before it."""
    folder = _folder(checkout, task)
    baseline, driver = _read(folder / "baseline.hpp"), _read(folder / "cpu.cc")
    headers = "".join(f"#include <{name}>\n" for name in _HEADERS.split())
    return f"{headers}\n{_declared(driver)}\n{baseline.rstrip()}\n"


def _declared(driver: str) -> str:
    """Types, constants and functions of a driver's head comment.

    Its own comments are left out, and the unfinished function at its end.
    """
    head = list[str]()
    for line in driver.splitlines()[1:]:
        if not line.startswith("//"):
            break
        head.append(line.removeprefix("//").removeprefix(" "))
    lines = [line for line in _COMMENT.sub("", "\n".join(head)).splitlines() if line.strip()]
    return "\n".join(lines[:-1] if lines and lines[-1].rstrip().endswith("{") else lines)


class _Facts:
    """ParEval's facts of a task besides its code: number, sizes and ranges of integers."""

    def __init__(self, checkout: Path, task: str, target: Target) -> None:
        """Raises `BadInput` where there is no size for the target."""
        model = _MODELS[target]
        text = _sizes(checkout).get(task, {}).get(model)
        if text is None:
            raise BadInput(f"{checkout / _SIZES}: no size of {task} for {model}")
        self.number, self.answers = size(text), _ANSWERS.get(task, _Answers())
        driver = _read(_folder(checkout, task) / "cpu.cc")
        self._names: dict[str, int | float] = {_NUMBER: self.number}
        utilities = checkout / _UTILITIES
        if utilities.exists():
            for name, value in _DEFINED.findall(_read(utilities)):
                self._names.setdefault(name, float(value))
        self._constants = dict(self._numbers(_SET, driver))
        self._names |= self._constants
        self._lengths = dict(self._numbers(_LENGTH, driver))
        self.ranges = {name: (int(a), int(b) - 1) for name, a, b in _DRAWN.findall(driver)}

    def sizes(self, draft: Draft) -> dict[str, int]:
        """ParEval's sizes for those of a draft; the task's number where its driver has none."""
        return {name: self._size(name, expression) for name, expression in draft.sizes.items()}

    def _size(self, name: str, expression: str) -> int:
        if name in self.answers.sizes:
            return size(self.answers.sizes[name], self._names)
        array, dot, _ = expression.partition(".size()")
        if not dot:
            return self._constants.get(name, self.number)
        # a list that the driver fills item by item has the length of its constant nVals
        return self._lengths.get(array, self._constants.get("nVals", self.number))

    def _numbers(self, pattern: re.Pattern[str], driver: str) -> Iterator[tuple[str, int]]:
        """Numbers of a driver's `init`, as far as they follow from known ones."""
        body = _INIT.search(driver)
        numbers = dict(self._names)
        for name, text in pattern.findall(body[1] if body else ""):
            try:
                numbers[name] = size(text.replace("ctx->", ""), numbers)
            except BadInput:
                continue
            yield name, int(numbers[name])


_PLAIN: Mapping[type, Any] = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul}


def size(text: str, names: Mapping[str, float] | None = None) -> int:
    """An expression such as "(1<<10)" as C++ has it; "/" only where there are names.

    Raises `BadInput` for any other text, and for a size below 1.
    """
    try:
        tree = ast.parse(text.strip()[:_LETTERS], mode="eval")
        number = int(_value(tree.body, names or {}))
        if len(text) > _LETTERS or not 1 <= number < 1 << _BITS:
            raise ValueError(number)
    except (ValueError, SyntaxError, RecursionError, ArithmeticError, MemoryError):
        expected = "not a number from 1 on, made of integers, <<, *, + and -"
        raise BadInput(f"size {text[:_LETTERS]!r}: {expected}") from None
    return number


def _value(node: ast.expr, names: Mapping[str, float]) -> Any:
    """Raises `ValueError` for anything but arithmetic."""
    match node:
        case ast.Constant(int(number)) if not isinstance(number, bool):
            return number
        case ast.Name(name) if name in names:
            return names[name]
        case ast.BinOp(left, ast.LShift(), ast.Constant(int(by))) if by <= _BITS:
            return int(_value(left, names)) << by
        case ast.BinOp(left, ast.Div(), right) if names:
            return _value(left, names) // _value(right, names)
        case ast.BinOp(left, op, right) if type(op) in _PLAIN:
            return _PLAIN[type(op)](_value(left, names), _value(right, names))
    raise ValueError(ast.dump(node))


def _require_good(settings: Settings, folder: Path, tell: Tell) -> None:
    """Raise `BadInput` where the check that a search begins with finds an error."""
    checkup = check_problem(settings, f"{folder}/", tell)
    if checkup.errors:
        raise BadInput(str(checkup.errors[0]))


def _make(settings: Settings, folder: Path, text: str, facts: _Facts, tell: Tell) -> None:
    """Write a problem's folder, all of it or nothing. Raises `BadInput`."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".draft-") as place:
        draft = Path(place) / folder.name
        try:
            _fill(settings, draft, text, facts, tell)
        except BadInput as error:
            raise BadInput(str(error).replace(f"{draft}/", "")) from None
        draft.rename(folder)


def _fill(settings: Settings, folder: Path, text: str, facts: _Facts, tell: Tell) -> None:
    """Write a problem at ParEval's sizes; where those cannot be, at sizes found by growing."""
    folder.mkdir()
    (folder / _SOURCE).write_text(text, "utf-8")
    baseline = _understood(folder / _SOURCE)
    draft = _draft(baseline, facts, {})
    sizes, note = facts.sizes(draft), ""
    try:
        adopted = _adopt(settings, folder, (_draft(baseline, facts, sizes), facts), tell)
    except BadInput as refused:
        tell(f"{folder.name}: at ParEval's size: {refused}")
        adopted = _adopt(settings, folder, (draft, facts), tell)
        grown = adopted.problem.sizes.time
        note = f"timed at {shape_text(grown)}, not ParEval's {shape_text(sizes)}: {refused}\n"
    note += facts.answers.note + _NAN * any("NaN" in line for line in adopted.notes)
    (folder / _NOTE).write_text(note.replace(f"{folder}/", ""), "utf-8")


def _understood(source: Path) -> Read:
    """The baseline: the one function that ParEval calls correct."""
    file = read(source)
    named = [item.shown() for item in functions(file) if re.match("correct[A-Z]", item.name)]
    if len(named) != 1:
        raise BadInput(
            f"{source.name}: {len(named) or 'no'} functions correct... in it; one is needed"
        )
    return understand(file, named[0])


def _draft(baseline: Read, facts: _Facts, sizes: Mapping[str, int]) -> Draft:
    """The draft with all shapes, answered or proposed. Raises `BadInput` for an open one."""
    answers = facts.answers
    choices = Said(shapes=dict(answers.shapes), values=dict(answers.values), sizes=dict(sizes))
    choices.roles |= dict.fromkeys(answers.outs, "out")
    draft = Draft(baseline, choices)
    while draft.open:
        name = draft.open[0]
        shape = draft.proposed(name)
        if not shape:
            raise BadInput(f"{name}: its shape cannot be told from the code")
        choices.shapes[name] = tuple(part.strip() for part in shape.split(","))
        draft = Draft(baseline, choices)
    return draft


def _adopt(settings: Settings, folder: Path, pair: tuple[Draft, _Facts], tell: Tell) -> Adopted:
    """Write the problem beside its source and check it. Raises `BadInput`."""
    draft, facts = pair
    adopted = open_adopter(settings, tell).adopt(draft, folder.name, folder)
    drawn = _drawn(adopted.files["problem.toml"], facts)
    for name, text in {**adopted.files, **drawn}.items():
        (folder / name).write_text(text, "utf-8")
    _require_good(settings, folder, tell)
    return adopted


def _drawn(declared: str, facts: _Facts) -> dict[str, str]:
    """The declaration with ParEval's inputs, where the usual ones miss the task."""
    fields, answers = tomllib.loads(declared), facts.answers
    for arg in fields["args"]:
        name = arg["name"]
        if name == answers.makes:
            arg["values"] = ["custom"]
            arg.pop("range", None)
        elif name in answers.ranges:
            arg |= {"values": ["uniform"], "range": list(answers.ranges[name])}
        elif name in facts.ranges and "range" in arg and "values" not in arg:
            arg["range"] = list(facts.ranges[name])
    if not answers.makes:
        return {"problem.toml": toml(fields)}
    code = f"import numpy as np\n\n\ndef generate(sizes, variant, rng):\n{answers.inputs}"
    code += f'    return {{"{answers.makes}": made}}\n'
    return {"problem.toml": toml({"custom_variants": 3} | fields), "inputs.py": code}
