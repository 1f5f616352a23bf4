"""The rlimits of a worker, each against a process without them."""

import os
import resource
import sys
from pathlib import Path

import pytest

from tests.requirement import require

from .test_isolation import EVALUATION

LIMITED = (
    "import os, resource, signal, sys, time\n"
    "os.chdir(os.path.dirname(sys.argv[2]))\n"
    "most = resource.getrlimit(resource.RLIMIT_CORE)[1]\n"
    "resource.setrlimit(resource.RLIMIT_CORE, (most, most))\n"
    "sys.path.append(sys.argv[1]); from confined import worker\n"
    "file = open(sys.argv[2], 'wb', buffering=0)\n"
    "if sys.argv[3] == 'limited':\n"
    "    worker.limit(1, 0)\n"
)


def limited(tmp_path: Path, how: str, then: str) -> int:
    """Wait status of a process that does `then`, with the worker's limits or without."""
    file = str(tmp_path / "file")
    command = [sys.executable, "-I", "-S", "-c", LIMITED + then, EVALUATION, file, how]
    child = os.posix_spawn(command[0], command, os.environ)
    return os.waitpid(child, 0)[1]


@pytest.mark.parametrize("how", ["limited", "free"])
class TestLimits:
    def test_files_do_not_grow(self, tmp_path: Path, how: str) -> None:
        limited(tmp_path, how, "file.write(b'x')")
        assert (tmp_path / "file").stat().st_size == (how == "free")

    def test_cpu_time_ends(self, tmp_path: Path, how: str) -> None:
        status = limited(tmp_path, how, "while time.process_time() < 1.6: pass")
        assert os.WIFSIGNALED(status) == (how == "limited")

    def test_crashes_leave_no_core_dump(self, tmp_path: Path, how: str) -> None:
        if resource.getrlimit(resource.RLIMIT_CORE)[1] == 0:
            require("core-dumps", "this machine allows no core dumps")
        status = limited(tmp_path, how, "os.kill(os.getpid(), signal.SIGABRT)")
        assert os.WCOREDUMP(status) == (how == "free")
