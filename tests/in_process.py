"""`regraph` in this process: as it is typed, without the start of a Python."""

import io
import sys
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from regraph_kg.cli.app import main


def regraph(
    *words: str, folder: Path, env: Mapping[str, str] | None = None
) -> "CompletedProcess[str]":
    """`regraph WORDS` in `folder`, with `env` added to the environment."""
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.chdir(folder)
        patch.setattr(sys, "argv", ["regraph", *words])
        for name, value in (env or {}).items():
            patch.setenv(name, value)
        with pytest.raises(SystemExit) as ended:
            main()
    return CompletedProcess(words, int(ended.value.code or 0), out.getvalue(), err.getvalue())
