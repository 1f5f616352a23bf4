"""`regraph apply`: what is written into a user's files, what is refused, and the way back."""

import json
import subprocess
from pathlib import Path

import pytest

from regraph_kg.adopt.reading import understand
from regraph_kg.cpp.functions import read
from regraph_kg.errors import BadInput
from tests.cli.taken_home import FOUND, OWN, make, searched
from tests.in_process import typed as regraph
from tests.search.toy import SEAL


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of the user's, where this installation's key is the one of the traces."""
    data = tmp_path / "data"
    data.mkdir()
    (data / "trace-key").write_bytes(SEAL)
    (data / "trace-key").chmod(0o600)
    monkeypatch.setenv("REGRAPH_DATA_DIR", str(data))
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def output_of(folder: Path, *files: str) -> str:
    """What a program of these files prints."""
    words = ["g++", "-std=c++17", "-fopenmp", *files, "-o", "program"]
    subprocess.run(words, cwd=folder, check=True, timeout=120)
    return subprocess.check_output(["./program"], cwd=folder, text=True, timeout=60)


@pytest.mark.slow
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_the_users_program_computes_the_same_with_the_answer_in_it_and_after_undo(
    here: Path, ends: str
) -> None:
    trace = searched(here, make(here, OWN.replace("\n", ends)))
    before = (here / "own.cpp").read_bytes()
    said = output_of(here, "own.cpp")
    code, out, _ = regraph("apply", trace, "--yes")
    assert code == 0
    assert "wrote own.cpp and own_regraph.cpp" in out.replace(f"{here}/", "")
    assert output_of(here, "own.cpp", "own_regraph.cpp") == said
    assert (
        "// regraph: own::scale of own.cpp, 2.01x as fast" in (here / "own_regraph.cpp").read_text()
    )
    told = " ".join((here / "own_regraph.cpp").read_text().replace("//", "").split())
    assert "a secret shape between, only ever with by=2.5, fp32" in told
    lines = (here / "own.cpp").read_bytes().splitlines(keepends=True)
    assert [line for line in lines if not line.endswith(ends.encode())] == []
    assert regraph("apply", trace.stem, "--undo").code == 0
    assert (here / "own.cpp").read_bytes() == before
    assert not (here / "own_regraph.cpp").exists()


@pytest.mark.slow
def test_functions_of_one_name_in_two_files_keep_their_answers_apart(here: Path) -> None:
    helped = 'extern "C" { float quarter() { return 0.25f; } }\n'
    found = FOUND.replace("namespace own {", f"{helped}namespace own {{", 1)
    found = found.replace("fma(x, by, 0.25f)", "fma(x, by, quarter())")
    files = []
    for name in ("a", "b"):
        (here / name).mkdir()
        own = OWN.replace("std::vector<float> scale", "static std::vector<float> scale")
        problem = make(here / name, own.replace("int main() {", f"void {name}() {{"))
        trace = searched(here / name, problem, found)
        assert regraph("apply", trace, "--problem", f"{name}/scale", "--yes").code == 0
        files += [f"{name}/own.cpp", f"{name}/own_regraph.cpp"]
    (here / "main.cpp").write_text("void a(); void b(); int main() { a(); b(); }")
    assert output_of(here, "main.cpp", *files) == "4.25 8.25 12.25 " * 2


def test_a_function_that_calls_an_answer_is_not_taken_in_again(here: Path) -> None:
    trace = searched(here, make(here))
    assert regraph("apply", trace, "--yes").code == 0
    with pytest.raises(BadInput, match="scale calls an answer already; take that back first"):
        understand(read(here / "own.cpp"), "own::scale")


@pytest.mark.parametrize("own", [OWN, OWN.rstrip("\n")])
def test_git_takes_the_patch_from_the_root_of_the_repository(here: Path, own: str) -> None:
    (here / "src").mkdir()
    trace = searched(here, make(here / "src", own))
    subprocess.run(["git", "init", "-q"], cwd=here, check=True)
    words = ("apply", trace, "--problem", "src/scale", "--patch", "home.diff")
    code, out, _ = regraph(*words)
    assert (code, "git apply home.diff" in out) == (0, True)
    assert (here / "src" / "own.cpp").read_text() == own
    subprocess.run(["git", "apply", "home.diff"], cwd=here, check=True)
    patched = (here / "src" / "own.cpp").read_text()
    assert "return result;" in patched
    assert (here / "src" / "own_regraph.cpp").exists()
    subprocess.run(["git", "apply", "-R", "home.diff"], cwd=here, check=True)
    regraph("apply", trace, "--problem", "src/scale", "--yes")
    assert (here / "src" / "own.cpp").read_text() == patched


def test_without_a_home_the_code_goes_where_it_is_told(here: Path) -> None:
    problem = make(here, with_home=False)
    trace = searched(here, problem)
    code, _, err = regraph("apply", trace, "--yes")
    assert (code, "say where the code goes: --to FILE" in err) == (2, True)
    serial = (problem / "serial.cpp").read_text()
    (here / "mine.cpp").write_text(f"// above\n{serial}\n// below\n")
    assert regraph("apply", trace, "--to", "mine.cpp", "--yes").code == 0
    mine = (here / "mine.cpp").read_text()
    assert mine.startswith("// above\n// regraph: scale, 2.01x as fast as its serial code (95 %:")
    assert FOUND.strip() in mine
    assert mine.endswith("\n// below\n")
    (here / "other.cpp").write_text("int other;\n")
    code, _, err = regraph("apply", trace, "--to", "other.cpp", "--yes")
    assert (code, "other.cpp: does not hold the problem's serial.cpp" in err) == (2, True)


def test_nothing_is_written_unasked_or_over_changes(here: Path) -> None:
    trace = searched(here, make(here))
    code, out, err = regraph("apply", trace)
    assert (code, "no terminal to ask on" in err, "+++ b/own_regraph.cpp" in out) == (2, True, True)
    (here / "own_regraph.cpp").write_text("int mine;\n")
    assert "own_regraph.cpp: is there already" in regraph("apply", trace).err
    (here / "own_regraph.cpp").unlink()
    (here / "own.cpp").chmod(0o444)
    assert "own.cpp: is read-only" in regraph("apply", trace, "--yes").err
    assert sorted(path.name for path in here.iterdir()) == ["own.cpp", "runs", "scale"]
    (here / "own.cpp").chmod(0o644)
    (here / "own.cpp").write_text(f"{OWN}// more\n")
    code, _, err = regraph("apply", trace, "--yes")
    assert (code, "own.cpp: has changed since its problem was made" in err) == (2, True)
    assert not (here / "own_regraph.cpp").exists()


def test_the_answer_of_another_function_of_the_file_stays(here: Path) -> None:
    trace = searched(here, make(here))
    other = "// regraph: own::turn of own.cpp\n\nnamespace regraph_turn_entry {\n}\n"
    (here / "own_regraph.cpp").write_text(other)
    code, out, _ = regraph("apply", trace, "--yes")
    assert code == 0
    [name] = (path.name for path in here.glob("own_own_scale_entry*_regraph.cpp"))
    assert name in out
    assert (here / "own_regraph.cpp").read_text() == other
    assert f"// in {name}" in (here / "own.cpp").read_text()
    assert regraph("apply", trace, "--undo").code == 0
    names = sorted(path.name for path in here.iterdir())
    assert names == ["own.cpp", "own_regraph.cpp", "runs", "scale"]


def test_a_file_that_is_no_code_by_its_name_is_not_written_unseen(here: Path) -> None:
    problem = make(here)
    trace = searched(here, problem)
    (here / "own.cpp").rename(here / ".bashrc")
    (here / "own.cpp").symlink_to(".bashrc")
    code, _, err = regraph("apply", trace, "--yes")
    assert (code, ".bashrc: no source file by its name" in err) == (2, True)
    assert (here / ".bashrc").read_text() == OWN
    assert regraph("apply", trace, "--patch", "home.diff").code == 0


def test_undo_is_refused_where_nothing_was_applied(here: Path) -> None:
    trace = searched(here, make(here))
    assert regraph("apply", trace, "--undo").code == 2
    regraph("apply", trace, "--yes")
    again = regraph("apply", trace, "--yes").err
    assert "it was applied before: --undo takes that back" in again


def test_a_record_beside_a_strangers_trace_takes_nothing_back(here: Path) -> None:
    trace = searched(here, make(here))
    (here / "mine.cpp").write_text("int mine;")
    made = [{"path": str(here / "mine.cpp"), "before": None, "after": "x"}]
    trace.with_name(f"{trace.name}.applied.json").write_text(json.dumps(made))
    assert regraph("apply", trace, "--undo").code == 2
    assert (here / "mine.cpp").exists()


def test_a_run_without_an_answer_of_this_installation_is_refused(here: Path) -> None:
    problem = make(here)
    nothing = searched(here, problem, None)
    assert "nothing that is surely faster" in regraph("apply", nothing, "--yes").err
    whole = searched(here, problem)
    torn = here / "runs" / "torn.jsonl"
    torn.write_bytes(b"\n".join(whole.read_bytes().splitlines()[:2]) + b"\n")
    assert "has not ended" in regraph("apply", "torn", "--yes").err
    other = searched(here, problem, model="another")
    other.write_bytes(other.read_bytes().replace(b'"mac":"', b'"mac":"0', 1))
    assert "its times are not believed" in regraph("apply", other, "--yes").err
    (problem / "serial.cpp").write_text("// other\n" + (problem / "serial.cpp").read_text())
    assert "other serial code" in regraph("apply", whole, "--yes").err
    assert "neither a file nor a run" in regraph("apply", "nope").err


def test_no_word_of_a_run_ends_the_comment_or_hides_in_the_code(here: Path) -> None:
    bad = "evil\\\nint hit;\x1b[31m\u202e */"
    trace = searched(here, make(here), FOUND + "// \u202e hidden\n", model=bad)
    assert regraph("apply", trace, "--to", "out.cpp", "--yes").code == 0
    text = (here / "out.cpp").read_text()
    head = text.partition("#include")[0]
    assert all(line.startswith("// ") and not line.endswith("\\") for line in head.splitlines())
    assert "\u202e" not in text
    assert "\x1b" not in text
