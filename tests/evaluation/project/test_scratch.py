"""The temporary folders of projects' sessions: none is left, whatever ended its session."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from regraph_kg.evaluation.project.scratch import ScratchFolder

pytestmark = pytest.mark.usefixtures("scratch")
HOLDS = """\
import time
from regraph_kg.evaluation.project.scratch import ScratchFolder
place = ScratchFolder()
(place.root / "copy").mkdir()
print(place.root, flush=True)
time.sleep(60)
"""


def aged(folder: Path) -> Path:
    os.utime(folder, (0, 0), follow_symlinks=False)
    return folder


def test_the_folder_of_a_session_that_was_killed_is_removed_by_the_next(scratch: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLDS],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(scratch)},
    ) as process:
        assert process.stdout is not None
        left = aged(Path(process.stdout.readline().strip()))
        ScratchFolder().close()
        assert left.exists(), "its session lives"
        process.kill()
    new = scratch / "regraph-project-new"
    new.mkdir()
    ScratchFolder().close()
    assert not left.exists()
    assert new.exists(), "its session may just begin"


def test_a_link_in_the_place_of_a_folder_is_left_alone(scratch: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    link = scratch / "regraph-project-link"
    link.symlink_to(mine)
    aged(link)
    aged(mine)
    place = ScratchFolder()
    place.close()
    place.close()
    assert mine.exists()
    assert link.is_symlink()
