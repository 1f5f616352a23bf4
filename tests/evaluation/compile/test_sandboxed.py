"""What compilers find when a source asks for files: nothing, however it is spelled.

The source rules (source_rules.py) play no part here. Each attack is also compiled without the
sandbox, where it gets what it wants.
"""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from regraph_kg.errors import ToolError
from regraph_kg.evaluation.compile import sandboxed
from regraph_kg.evaluation.compile.compile import HOST_FLAGS, Compiler
from regraph_kg.evaluation.compile.sandboxed import LAYERS, compiler_confinement, run
from regraph_kg.evaluation.compile.toolchain import find_cuda, find_gcc
from regraph_kg.evaluation.rules import Failure, JudgeLimits
from regraph_kg.models.evaluation import Outcome
from tests.requirement import require

from ..conftest import HERE

ROOT = HERE.parents[1]
SECRET = "correct-horse-battery"
ENTRY = 'extern "C" int seven() { return 7; }\n'
USED = "__attribute__((used)) const char"

ATTACKS = {
    "include": '#include "@"',
    "include_system": "#include <@>",
    "include_computed": '#define Q "@"\n#include Q',
    "include_spliced": '#inc\\\nlude "@"',
    "include_digraph": '%:include "@"',
    "include_next": '#include_next "@"',
    "include_pasted": '#define J(a) a\n#define Q J("@")\n#include Q',
    "include_through_parents": '#include "../../../../../../../../../..@"',
    "import": '#import "@"',
    "line_then_include": '#line 1 "/usr/include/x.h"\n#include "@"',
    "dependency": f'#pragma GCC dependency "@"\n{USED} s[] = "{SECRET}";',
    "dependency_by_operator": f'_Pragma("GCC dependency \\"@\\"")\n{USED} s[] = "{SECRET}";',
    "incbin": 'asm(".section .rodata\\n.incbin \\"@\\"\\n.text");',
    "incbin_capitals": 'asm(".section .rodata\\n.INCBIN \\"@\\"\\n.text");',
    "incbin_raw": 'asm(R"x(.section .rodata\n.IncBin "@"\n.text)x");',
    "incbin_stringified": "#define S(...) #__VA_ARGS__\n"
    'asm(".section .rodata\\n" S(.incbin "@") "\\n.text");',
    "incbin_pasted": "#define S(a, b) #a #b\n"
    'asm(".section .rodata\\n." S(inc, bin) " \\"@\\"\\n.text");',
    "incbin_by_macro": 'asm(".macro e a b\\n'
    '.\\\\a\\\\b \\"@\\"\\n.endm\\n.section .rodata\\ne inc bin\\n.text");',
    "incbin_in_function": "void f() { asm volatile("
    '".pushsection .rodata\\n.incbin \\"@\\"\\n.popsection"); }',
    "incbin_octal": 'asm(".section .rodata\\n.\\151ncbin \\"@\\"\\n.text");',
}
ASKED = {
    "has_include": '#if __has_include("@")',
    "has_include_system": "#if __has_include(<@>)",
    "has_include_next": '#if __has_include_next("@")',
    "has_include_pasted": '#define Q "@"\n#if __has_include(Q)',
}


def compiled(cache: Path, code: str, *, sandbox: bool) -> tuple[bytes, str]:
    """The object, and what is told of a failure."""
    made = Compiler(cache, find_gcc(), JudgeLimits(), sandbox=sandbox).host(
        f"{code}\n{ENTRY}", ["-O1"]
    )
    return (b"", made.diagnosis) if isinstance(made, Failure) else (made.read_bytes(), "")


@pytest.fixture(params=["temporary", "home"])
def secret(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / request.param
    folder.mkdir()
    if request.param == "home":
        monkeypatch.setenv("HOME", str(folder))
    path = folder / "secret"
    path.write_text(f'{USED} secret[] = "{SECRET}";\n')
    return path


@pytest.mark.slow
@pytest.mark.parametrize("attack", ATTACKS)
def test_no_spelling_finds_a_file(tmp_path: Path, secret: Path, attack: str) -> None:
    code = ATTACKS[attack].replace("@", str(secret))
    unconfined, _ = compiled(tmp_path / "cache", code, sandbox=False)
    assert SECRET.encode() in unconfined
    confined_, told = compiled(tmp_path / "cache", code, sandbox=True)
    assert SECRET.encode() not in confined_
    assert SECRET not in told
    assert told


@pytest.mark.parametrize("asked", ASKED)
def test_no_spelling_tells_whether_a_file_exists(tmp_path: Path, secret: Path, asked: str) -> None:
    code = f'{ASKED[asked].replace("@", str(secret))}\n{USED} s[] = "is there";\n#endif'
    assert b"is there" in compiled(tmp_path / "cache", code, sandbox=False)[0]
    found, told = compiled(tmp_path / "cache", code, sandbox=True)
    assert found
    assert b"is there" not in found
    assert told == ""


@pytest.mark.parametrize("path", ["/etc/passwd", "/proc/self/environ", "/proc/@/environ"])
@pytest.mark.parametrize("attack", ["include", "incbin", "line_then_include"])
def test_files_of_the_system_are_not_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str, attack: str
) -> None:
    path = path.replace("@", str(os.getpid()))
    words = [Path(path).read_bytes().split(b"\0")[0][:20].decode()]
    found, told = compiled(tmp_path, ATTACKS[attack].replace("@", path), sandbox=True)
    assert not found
    assert not [word for word in words if word in told]
    assert "No such file or directory" in told or "file not found" in told


def test_a_link_in_its_own_folder_leads_nowhere(tmp_path: Path) -> None:
    """As if a compiler could be brought to make one."""
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "link").symlink_to("/etc/passwd")
    ran = run([("/bin/cat", "link")], tmp_path, (), JudgeLimits())
    assert ran.code == 1
    assert "No such file" in ran.said
    assert "root:" not in ran.said


@pytest.mark.parametrize(
    ("script", "says"),
    [
        ("echo x >/usr/include/x.h", "Read-only file system"),
        ("echo x >/x", "Read-only file system"),
        ("cat /proc/1/environ", "No such file"),
        ("ls /home /root /tmp/*", "No such file"),
        ("kill -9 -1; ls /sys/kernel", "No such file"),
        ("exec 3<>/dev/tcp/127.0.0.1/1", "Operation not permitted"),
        ("mount -t tmpfs none /usr", "mount"),
        ("unshare -U id", "Operation not permitted"),
    ],
)
def test_what_a_compiler_could_be_brought_to_do_harms_nothing(
    tmp_path: Path, script: str, says: str
) -> None:
    (tmp_path / "work").mkdir()
    ran = run([("/bin/bash", "-c", script)], tmp_path, (), JudgeLimits())
    assert ran.code
    assert says in ran.said


@pytest.mark.parametrize("missing", [("namespaces", "root"), ("landlock",), ("seccomp",)])
def test_a_kernel_that_lacks_a_layer_is_no_way_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: tuple[str, ...], secret: Path
) -> None:
    monkeypatch.setattr(sandboxed, "LAYERS", tuple(x for x in LAYERS if x not in missing))
    for attack in ("include", "incbin_capitals", "dependency"):
        code = ATTACKS[attack].replace("@", str(secret))
        found, told = compiled(tmp_path / "cache", code, sandbox=True)
        assert SECRET.encode() not in found or attack == "dependency"
        assert SECRET not in told


def test_what_holds_is_told() -> None:
    what, remedy = compiler_confinement()
    if remedy:
        require("sandbox", what)
    assert "namespaces" in what or "landlock" in what


@pytest.mark.parametrize("layers", [LAYERS, ("landlock", "seccomp")])
def test_nothing_of_a_compilation_outlives_its_judge(
    tmp_path: Path, layers: tuple[str, ...]
) -> None:
    """SIGKILL leaves it no time to clear up."""
    mark = f"99{os.getpid()}"
    slow = tmp_path / "slow"
    slow.write_text(f'#!/bin/sh\ncase "$*" in *out.so) sleep {mark} & sleep {mark};; esac\n')
    slow.chmod(0o755)
    script = (
        "import sys; from pathlib import Path\n"
        "from regraph_kg.evaluation import confined\n"
        "from regraph_kg.evaluation.compile.compile import Compiler\n"
        "from regraph_kg.evaluation.rules import JudgeLimits\n"
        "from regraph_kg.evaluation.compile.toolchain import Gcc\n"
        f"confined.LAYERS = {layers}\n"
        "Compiler(Path(sys.argv[1]), Gcc(Path(sys.argv[2]), ''), JudgeLimits()).host('x', [])\n"
    )
    command = [sys.executable, "-c", script, str(tmp_path / "cache"), str(slow)]
    judge = subprocess.Popen(command, cwd=ROOT, env={**os.environ, "TMPDIR": str(tmp_path)})
    assert waited_for(lambda: len(sleepers(mark)) == 2)
    judge.send_signal(signal.SIGKILL)
    judge.wait()
    assert waited_for(lambda: not sleepers(mark))


def sleepers(mark: str) -> list[str]:
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = entry.read_bytes().split(b"\0")
        except OSError:
            continue
        if words[0].endswith(b"sleep") and mark.encode() in words:
            found.append(entry.parent.name)
    return found


def waited_for(happened: "object") -> bool:
    assert callable(happened)
    end = time.monotonic() + 15
    while time.monotonic() < end:
        if happened():
            return True
        time.sleep(0.02)
    return False


def test_objects_above_the_limit_are_refused(tmp_path: Path) -> None:
    compiler = Compiler(tmp_path, find_gcc(), JudgeLimits(object_bytes=2**20))
    failed = compiler.host(f'asm(".data\\n.zero {2**21}\\n.text");\n{ENTRY}', ["-O1"])
    huge = compiler.host(f'asm(".data\\n.zero {2**32}\\n.text");\n{ENTRY}', ["-O1"])
    for refused in (failed, huge):
        assert isinstance(refused, Failure)
        assert refused.outcome is Outcome.COMPILE_FAILED
        assert "larger than 1 MiB: compute tables at run time" in refused.diagnosis
    assert list(tmp_path.glob("*.so")) == []


def test_a_compiler_that_does_not_start_is_told(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    ran = run([("/usr/bin/nothing",)], tmp_path, (), JudgeLimits())
    assert ran.code == 127
    assert "nothing: does not start: No such file" in ran.said


def test_a_sandbox_that_cannot_be_made_is_our_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandboxed.confined, "FOLDER", str(tmp_path / "none"))
    (tmp_path / "work").mkdir()
    with pytest.raises(ToolError, match="its sandbox failed"):
        run([("/bin/true",)], tmp_path, (), JudgeLimits())


@pytest.mark.parametrize("attack", ["include", "incbin_capitals", "has_include"])
def test_nvcc_finds_no_more(tmp_path: Path, attack: str) -> None:
    try:
        cuda = find_cuda()
    except ToolError as error:
        require("nvcc", str(error))
    secret = tmp_path / "secret"
    secret.write_text(f'{USED} secret[] = "{SECRET}";\n')
    code = {**ATTACKS, "has_include": f'{ASKED["has_include"]}\n{USED} s[] = "{SECRET}";\n#endif'}
    text = f"{code[attack].replace('@', str(secret))}\n__global__ void k() {{}}\n{ENTRY}"
    for sandbox in (False, True):
        compiler = Compiler(tmp_path / "cache", find_gcc(), JudgeLimits(), sandbox=sandbox)
        made = compiler.cuda(text, cuda, "90")
        held = b"" if isinstance(made, Failure) else made.read_bytes()
        assert (SECRET.encode() in held) != sandbox
        assert not isinstance(made, Failure) or SECRET not in made.diagnosis


def test_honest_openmp_code_still_compiles(tmp_path: Path) -> None:
    code = (
        "#include <omp.h>\n#include <immintrin.h>\n#include <algorithm>\n"
        'extern "C" int most() { int n = 0;\n#pragma omp parallel for reduction(+ : n)\n'
        "for (int i = 0; i < 9; ++i) n += i;\nreturn n; }\n"
    )
    made = Compiler(tmp_path, find_gcc(), JudgeLimits()).host(code, (*HOST_FLAGS, "-fopenmp"))
    assert isinstance(made, Path)
