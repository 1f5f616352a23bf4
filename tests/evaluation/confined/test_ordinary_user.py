"""The judge as another user than root, and what that user cannot become."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.requirement import require

from .test_isolation import ATTEMPTS, EVALUATION, IS_ROOT, RIGHT

pytestmark = pytest.mark.slow

LAYERS = Path(__file__).with_name("test_isolation.py")
REPOSITORY = Path(__file__).parents[3]
NOBODY = 65534


@pytest.mark.parametrize("dropped", [True, False])
def test_a_setuid_program_gains_nothing(
    tmp_path_factory: pytest.TempPathFactory, dropped: bool
) -> None:
    if not IS_ROOT:
        require("root", "only root can make a setuid program")
    with open_folder() as folder:
        program = folder / "id"
        program.write_bytes(Path("/usr/bin/id").read_bytes())
        program.chmod(0o4755)
        script = (
            "import ctypes, os, sys; sys.path.append(sys.argv[1]); from confined import filters\n"
            "os.setgroups([]); os.setgid(65534); os.setuid(65534)\n"
            "if sys.argv[3] == 'True': filters.drop_privileges(ctypes.CDLL(None))\n"
            "os.execv(sys.argv[2], ['id', '-u'])\n"
        )
        command = [
            sys.executable,
            "-I",
            "-S",
            "-c",
            script,
            EVALUATION,
            str(program),
            str(dropped),
        ]
        said = subprocess.run(command, capture_output=True, text=True, check=True, cwd="/").stdout
    assert said.strip() == ("65534" if dropped else "0")


@contextmanager
def open_folder(user: int = 0) -> Iterator[Path]:
    """A folder of this user that all can look into, on a file system that knows setuid."""
    with tempfile.TemporaryDirectory(dir="/var/tmp", ignore_cleanup_errors=True) as name:
        Path(name).chmod(0o755)
        os.chown(name, user, user)
        yield Path(name)


def closed(path: Path) -> Path | None:
    """The first folder above `path` that others may not enter."""
    return next((p for p in [*path.parents][::-1] if not p.stat().st_mode & 0o001), None)


def as_nobody(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Run a command as the user 65534, who is shown Python and this repository where they lie."""
    needed = [Path(sys.base_prefix).resolve(), Path(sys.prefix), REPOSITORY]
    lines = ["set -e", "mkdir -p $0/kept"]
    for index, path in enumerate(needed):
        if hidden := closed(path):
            kept = f"$0/kept/{index}"
            lines += [f"mkdir {kept}", f"mount --bind {path} {kept}"]
            lines += [f"mount -t tmpfs -o mode=755 none {hidden}", f"mkdir -p {path}"]
            lines += [f"mount --bind {kept} {path}"]
    lines.append(f'exec setpriv --reuid {NOBODY} --regid {NOBODY} --clear-groups "$@"')
    return subprocess.run(
        [
            "unshare",
            "--mount",
            "sh",
            "-c",
            "\n".join(lines),
            folder,
            sys.executable,
            "-B",
            *command,
        ],
        env={"PATH": os.environ["PATH"], "TMPDIR": str(folder), "LANG": "C.UTF-8"},
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.fixture
def nobodys(request: pytest.FixtureRequest) -> Iterator[Path]:
    if not IS_ROOT:
        require("root", "only root can become another user")
    with open_folder(NOBODY) as folder:
        yield folder


def test_an_ordinary_user_gets_the_same_verdicts(nobodys: Path) -> None:
    hostile = f"@ if (!(forks() || reads(parents_environment()))) abort(); {RIGHT}"
    bodies = [f"@ {RIGHT}", "@ y[0] = 0;", "@ for (;;) sleep(1);", hostile]
    head = 'extern "C" void scale(const float* x, float* y, float a, int n) {'
    codes = [f"{ATTEMPTS}{body.replace('@', head)}}}" for body in bodies]
    script = (
        "import json, os, sys; from pathlib import Path\n"
        "from regraph_kg.evaluation.evaluate import Judge\n"
        "from regraph_kg.evaluation.problem.problem import load_problem\n"
        "from regraph_kg.evaluation.rules import JudgeLimits\n"
        "from regraph_kg.models.evaluation import Candidate\n"
        "problem = load_problem(Path(sys.argv[2]))\n"
        "with Judge(Path(sys.argv[1]), limits=JudgeLimits(call_seconds=0.5)) as judge:\n"
        "    reports = [judge.evaluate(Candidate('openmp', code), problem)\n"
        "               for code in json.loads(sys.argv[3])]\n"
        "outcomes = [report.outcome.value for report in reports]\n"
        "print(json.dumps([os.getuid(), reports[0].facts['sandbox'], *outcomes]))\n"
    )
    problem = str(Path(__file__).parents[1] / "problems" / "scale")
    run = as_nobody(nobodys, "-c", script, str(nobodys), problem, json.dumps(codes))
    assert run.returncode == 0, run.stderr
    user, confinements, right, *others = json.loads(run.stdout)
    assert user == NOBODY
    assert "seccomp" in confinements
    assert right in ("passed", "unstable_timing")
    assert others == ["wrong_answer", "timed_out", "crashed"]


def test_an_ordinary_user_is_protected_by_the_same_layers(nobodys: Path) -> None:
    chosen = "environment or says_which or overwrites or signals"
    here = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", chosen, str(LAYERS))
    run = as_nobody(nobodys, *here, "--basetemp", str(nobodys / "pytest"))
    assert run.returncode == 0, run.stdout + run.stderr


def test_an_ordinary_users_compilers_find_no_files(nobodys: Path) -> None:
    chosen = "finds_a_file and temporary and (include or incbin) or harms or exists or outlives"
    tests = str(LAYERS.parents[1] / "compile" / "test_sandboxed.py")
    here = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", chosen, tests)
    run = as_nobody(nobodys, *here, "--basetemp", str(nobodys / "pytest"))
    assert run.returncode == 0, run.stdout + run.stderr
