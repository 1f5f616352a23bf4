"""`regraph` in this process: as it is typed, without the start of a Python."""

import io
import json
import sys
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any, NamedTuple

import pytest
import typer

from regraph_kg.cli.app import app, main


class Ended(NamedTuple):
    """Exit code and output of a command."""

    code: int
    out: str
    err: str

    def json(self) -> Any:
        return json.loads(self.out)


def typed(*words: str | Path, commands: typer.Typer = app) -> Ended:
    """`regraph WORDS`, or other commands, where this process is, with its environment."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.setattr(sys, "argv", ["regraph", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            main(commands)
    said = (stream.buffer.getvalue().decode() for stream in (out, err))
    return Ended(int(ended.value.code or 0), *said)


def regraph(
    *words: str, folder: Path, env: Mapping[str, str] | None = None
) -> "CompletedProcess[str]":
    """`regraph WORDS` in `folder`, with `env` added to the environment."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for name, value in (env or {}).items():
            patch.setenv(name, value)
        ended = typed(*words)
    return CompletedProcess(words, ended.code, ended.out, ended.err)
