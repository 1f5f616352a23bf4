"""The cache of compiled code: whose it is, what is believed in it, how large it grows."""

import ctypes
import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from regraph_kg.errors import ToolError
from regraph_kg.evaluation.compile.cache import Cache
from regraph_kg.evaluation.compile.compile import Compiler
from regraph_kg.evaluation.compile.toolchain import find_gcc
from regraph_kg.evaluation.evaluate import Judge
from regraph_kg.evaluation.problem.problem import load_problem
from regraph_kg.evaluation.rules import JudgeLimits
from regraph_kg.models.evaluation import Candidate
from tests.requirement import require

from ..conftest import HERE, SOON

ROOT = HERE.parents[1]
SIZE = 5 + 32  # of an entry of five bytes, with its digest
CODE = 'extern "C" int seven() { return 7; }\n'


def names(folder: Path) -> list[str]:
    return sorted(path.stem for path in folder.glob("*.so"))


def used(folder: Path, key: str, seconds_ago: int) -> None:
    path = folder / f"{key}.so"
    stamp = path.stat().st_mtime - seconds_ago
    os.utime(path, (stamp, path.stat().st_mtime))


def test_what_was_used_longest_ago_goes_first(tmp_path: Path) -> None:
    Cache(tmp_path, 2 * SIZE).put("a", b"12345")
    Cache(tmp_path, 2 * SIZE).put("b", b"12345")
    used(tmp_path, "a", 200)
    used(tmp_path, "b", 300)
    assert Cache(tmp_path, 2 * SIZE).find("b") == tmp_path / "b.so"
    Cache(tmp_path, 2 * SIZE).put("c", b"12345")
    assert names(tmp_path) == ["b", "c"]


def test_what_a_living_judge_holds_stays_and_goes_after_it(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path\n"
        "from regraph_kg.evaluation.compile.cache import Cache\n"
        "cache = Cache(Path(sys.argv[1]))\n"
        "cache.put('held', b'12345', keep=True); print('ready', flush=True); sys.stdin.read()\n"
    )
    command = [sys.executable, "-c", script, str(tmp_path)]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout
        other.stdout.readline()
        cache = Cache(tmp_path, SIZE)
        cache.put("new", b"12345")
        assert names(tmp_path) == ["held", "new"]
        other.kill()
    cache.put("newer", b"12345")
    assert "held" not in names(tmp_path)


def test_what_is_closed_holds_nothing_and_may_be_used_again(tmp_path: Path) -> None:
    with closing(Cache(tmp_path)) as cache:
        cache.put("kept", b"12345", keep=True)
        cache.put("recent", b"12345")
    Cache(tmp_path, SIZE).put("new", b"12345")
    assert names(tmp_path) == ["new"]
    assert cache.find("new", keep=True)
    Cache(tmp_path, SIZE).put("newer", b"12345")
    assert names(tmp_path) == ["new", "newer"]


@pytest.mark.nightly
def test_a_closed_judge_holds_none_of_its_code(tmp_path: Path) -> None:
    problem = load_problem(HERE / "problems" / "scale")
    folder = tmp_path / "compiled"
    with Judge(tmp_path, limits=SOON) as judge:
        judge.evaluate(Candidate("openmp", "wrong"), problem)
        kept = names(folder)
        Cache(folder, 1).put("new", b"x")
        assert set(kept) < set(names(folder))
    Cache(folder, 1).put("newer", b"x")
    assert names(folder) == ["newer"]
    assert judge.device("openmp")


def test_only_what_is_to_be_kept_is_held(tmp_path: Path) -> None:
    cache = Cache(tmp_path, SIZE)
    cache.put("first", b"12345", keep=True)
    for number in range(40):
        cache.put(f"candidate{number}", b"12345")
    assert names(tmp_path) == ["candidate39", "first"]


@pytest.mark.parametrize("mode", [0o757, 0o777, 0o775])
def test_a_folder_of_ours_that_was_open_is_closed(tmp_path: Path, mode: int) -> None:
    folder = tmp_path / "cache"
    folder.mkdir()
    folder.chmod(mode)
    Cache(folder).put("a", b"x")
    assert folder.stat().st_mode & 0o777 == 0o700


DAMAGE = {
    "emptied": lambda built: b"",
    "cut": lambda built: built[: len(built) // 2],
    "cut by a byte": lambda built: built[:-1],
    "one bit": lambda built: built[:100] + bytes([built[100] ^ 1]) + built[101:],
    "garbage": lambda built: b"\xff" * len(built),
    "longer": lambda built: built + b"\0",
    "without its digest": lambda built: built[:-32],
}


@pytest.mark.parametrize("how", DAMAGE)
def test_a_damaged_entry_is_built_anew(tmp_path: Path, how: str) -> None:
    entry = Compiler(tmp_path / "cache", find_gcc(), JudgeLimits()).host(CODE, ["-O0"])
    assert isinstance(entry, Path)
    built = entry.read_bytes()
    entry.chmod(0o755)
    entry.write_bytes(DAMAGE[how](built))
    again = Compiler(tmp_path / "cache", find_gcc(), JudgeLimits()).host(CODE, ["-O0"])
    assert again == entry
    assert ctypes.CDLL(str(entry)).seven() == 7
    assert entry.read_bytes() == built


@pytest.mark.parametrize("where", ["cache", "cache/building"])
def test_a_file_in_place_of_a_folder_is_named_in_one_line(tmp_path: Path, where: str) -> None:
    (tmp_path / "cache").mkdir(mode=0o700)
    place = tmp_path / where
    if place.is_dir():
        place.rmdir()
    place.write_text("x")
    with pytest.raises(ToolError, match=f"compile cache {tmp_path / 'cache'}: .*remove it") as told:
        Compiler(tmp_path / "cache", find_gcc(), JudgeLimits()).host(CODE, ["-O0"])
    assert "\n" not in str(told.value)


@pytest.mark.parametrize("how", ["writable", "link", "hard link", "folder", "owner", "pipe"])
def test_an_entry_that_is_not_ours_alone_is_built_anew(tmp_path: Path, how: str) -> None:
    compiler = Compiler(tmp_path / "cache", find_gcc(), JudgeLimits())
    entry = compiler.host(CODE, ["-O0"])
    assert isinstance(entry, Path)
    built = entry.read_bytes()
    evil = tmp_path / "evil.so"
    evil.write_bytes(b"evil")
    entry.unlink()
    if how == "writable":
        entry.write_bytes(b"evil")
        entry.chmod(0o777)
    elif how == "link":
        entry.symlink_to(evil)
    elif how == "hard link":
        entry.hardlink_to(evil)
    elif how == "folder":
        entry.mkdir()
        (entry / "within").write_text("x")
    elif how == "pipe":
        os.mkfifo(entry)
    else:
        entry.write_bytes(b"evil")
        give_away(entry)
    again = Compiler(tmp_path / "cache", find_gcc(), JudgeLimits()).host(CODE, ["-O0"])
    assert isinstance(again, Path)
    assert again.read_bytes() == built


def give_away(path: Path) -> None:
    if os.geteuid() != 0:
        require("root", "only root can make what belongs to another user")
    os.chown(path, 65534, 65534)


def test_a_folder_that_another_user_made_is_refused(tmp_path: Path) -> None:
    """As somebody does who knows its place in /tmp before we use it."""
    folder = tmp_path / "cache"
    folder.mkdir(mode=0o777)
    give_away(folder)
    with pytest.raises(ToolError, match=r"belongs to user 65534.*set REGRAPH_CACHE_DIR"):
        Compiler(folder, find_gcc(), JudgeLimits()).host(CODE, ["-O0"])


def test_a_folder_inside_another_users_is_refused(tmp_path: Path) -> None:
    (tmp_path / "theirs" / "cache").mkdir(parents=True)
    give_away(tmp_path / "theirs")
    with pytest.raises(ToolError, match=r"lies in .*theirs, of user 65534"):
        Cache(tmp_path / "theirs" / "cache").find("a")


def test_a_folder_that_anybody_could_exchange_is_refused(tmp_path: Path) -> None:
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    with pytest.raises(ToolError, match="open to others"):
        Cache(tmp_path / "open" / "cache").find("a")
    (tmp_path / "open").chmod(0o1777)
    assert Cache(tmp_path / "open" / "cache").find("a") is None


def test_a_link_in_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "cache").symlink_to(tmp_path / "real")
    with pytest.raises(ToolError, match="is no folder"):
        Cache(tmp_path / "cache").put("a", b"x")
