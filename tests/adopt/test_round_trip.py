"""There and back: an entry made of a user's function, called from where the function was."""

import subprocess
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from regraph_kg.adopt.draft import Draft, Said
from regraph_kg.adopt.reading import understand
from regraph_kg.adopt.texts import home, problem_fields, serial_code
from regraph_kg.cpp.functions import read
from regraph_kg.errors import BadInput
from regraph_kg.runs.take_home import _in_namespace, _with_call

HERE = Path(__file__).parent


def file_of(function: str) -> Path:
    return HERE / ("complex.cpp" if function in ("dft", "weighted") else "rounds.cpp")


@cache
def draft(function: str) -> Draft:
    """What is understood, with the shapes that are proposed where nobody can know."""
    one = Draft(understand(read(file_of(function)), function), Said())
    while one.open:
        name = one.open[0]
        assert one.proposed(name)
        one.said.shapes[name] = (one.proposed(name),)
        one = Draft(one.read, one.said)
    return one


def told(one: Draft) -> dict[str, str]:
    """Type, role and shape of each array, and the name of its count."""
    return {
        arg["name"]: " ".join(
            filter(None, (arg["type"], arg["role"], *arg["shape"], arg.get("count")))
        )
        for arg in one.arguments()
        if "shape" in arg
    }


@pytest.mark.parametrize(
    ("function", "expected", "returns"),
    [
        ("closest", {"points": "struct in n"}, "float64"),
        ("move", {"particles": "struct inout n"}, None),
        ("middles", {"a": "struct in n", "b": "struct in n", "out": "struct out n"}, None),
        ("centre", {"p": "struct in n", "result": "struct out 1"}, None),
        (
            "inside",
            {"p": "struct in n", "kept": "struct out n kept_count", "kept_count": "int64 out 1"},
            None,
        ),
        ("spmv", {"A": "struct in A_size", "x": "float64 in x_size", "y": "float64 out m"}, None),
        ("dft", {"x": "complex128 in n", "out": "complex128 out n"}, None),
        ("weighted", {"by": "complex64 in 1", "x": "complex64 in n"}, "complex64"),
        (
            "above",
            {
                "x": "float32 in n",
                "result": "int32 out n result_count",
                "result_count": "int64 out 1",
            },
            None,
        ),
        ("dedupe", {"x": "int32 inout n x_count", "x_count": "int64 out 1"}, None),
        ("twice", {"x": "float32 in n", "y": "float32 out 2*n"}, None),
        ("histogram", {"x": "int32 in n", "bins": "int32 out 16"}, None),
        ("tally", {"x": "int32 in x_size", "bins": "int32 out bins_size"}, None),
        ("odds", {"x": "int32 in n", "result": "bool out n"}, None),
        ("contains", {"x": "int32 in n"}, "bool"),
        ("scan", {"x": "float32 in n", "sums": "float32 out n"}, None),
        ("solved", {"A": "float64 in n n", "b": "float64 in n", "result": "float64 out n"}, None),
        ("halved", {"x": "float32 in n", "out": "float32 out (n // 2)"}, None),
        ("vowels", {"text": "char in n", "is": "bool out n"}, None),
    ],
)
def test_types_of_the_format_are_found(
    function: str, expected: dict[str, str], returns: str | None
) -> None:
    one = draft(function)
    assert told(one) == expected
    fields = problem_fields(one, one.plain(), "own")
    assert fields.get("returns") == (returns and {"type": returns})


def test_members_and_ranges_of_structs_are_told() -> None:
    entries = next(arg for arg in draft("spmv").arguments() if arg["name"] == "A")
    assert entries["struct"] == "geo_Entry"
    assert entries["fields"] == {"row": "size_t", "column": "size_t", "value": "float64"}
    assert entries["ranges"] == {"row": [0, "m - 1"], "column": [0, "x_size - 1"]}
    particles = next(arg for arg in draft("move").arguments() if arg["name"] == "particles")
    assert "ranges" not in particles


def test_an_array_of_indices_stays_within_what_it_indexes() -> None:
    x = next(arg for arg in draft("tally").arguments() if arg["name"] == "x")
    assert x["range"] == [0, "bins_size - 1"]


@pytest.mark.parametrize(("function", "stops"), [("contains", True), ("closest", False)])
def test_a_function_that_stops_early_says_so(function: str, *, stops: bool) -> None:
    one = draft(function)
    fields = problem_fields(one, one.plain(), "own")
    assert ("work" in fields) is stops
    if stops:  # what it looks for is there once or not at all
        assert fields["args"][0]["range"] == ["-(n)", "n"]
        assert fields["args"][0]["values"][0] == "sparse"


@pytest.mark.parametrize(
    ("function", "why"),
    [
        ("odd", r"line 56: x: struct Odd has padding"),
        ("derived", r"line 57: x: struct Derived is derived"),
        ("named", r"line 58: x: std::vector<int> is no number"),
    ],
)
def test_structs_that_are_no_plain_data_are_refused(function: str, why: str) -> None:
    with pytest.raises(BadInput, match=why):
        draft(function)


def printed(folder: Path, *files: str) -> str:
    """What a program of these files prints."""
    words = ["g++", "-std=c++17", "-O1", *files, "-o", "program"]
    subprocess.run(words, cwd=folder, check=True, timeout=120)
    return subprocess.check_output(["./program"], cwd=folder, text=True, timeout=60)


@cache
def before(file: Path) -> str:
    with TemporaryDirectory() as folder:
        return printed(Path(folder), str(file))


@pytest.mark.nightly
@pytest.mark.parametrize(
    "function",
    [
        *("closest", "move", "middles", "centre", "inside", "spmv", "dft", "weighted", "above"),
        *("dedupe", "twice", "histogram", "tally", "odds", "contains", "vowels", "logs"),
        *("scan", "solved", "halved"),
    ],
)
def test_the_users_program_prints_the_same_with_the_entry_in_the_functions_place(
    tmp_path: Path, function: str
) -> None:
    one, file = draft(function), file_of(function)
    plain = one.plain()
    kept = home(one, plain, tmp_path)
    (tmp_path / "own.cpp").write_bytes(_with_call(file.read_bytes(), kept, "entry.cpp"))
    if function == "solved":  # its locals are copies of vectors, which no view gives
        plain = replace(plain, given=[replace(arg, is_owned=True) for arg in plain.given])
    (tmp_path / "entry.cpp").write_text(_in_namespace(serial_code(one, plain), plain.entry))
    assert printed(tmp_path, "own.cpp", "entry.cpp") == before(file)
