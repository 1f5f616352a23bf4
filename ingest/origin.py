"""Facts that step lists lack: their problem, target and serial code.

It stands in a file beside each, named after it: `steps.json` has `steps.json.toml`. That names no
file outside its own folder: who wrote it may be a stranger, and the graph is shared.
"""

import tomllib
from pathlib import Path

from pydantic import ValidationError

from regraph_kg.errors import BadInput, first_mistake
from regraph_kg.models.base import Frozen
from regraph_kg.models.target import Target
from regraph_kg.models.trajectory import Name

SIDECAR = ".toml"
"""Suffix of the file beside a step list."""
_HINT = "write problem, target and serial (a file), a line each: regraph docs ingest"


class FileOrigin(Frozen):
    """The facts that a step list lacks."""

    target: Target
    problem: Name
    serial: str


class _Sidecar(FileOrigin):
    """The file beside a step list."""

    serial: Name
    """Path of the serial code."""


def sidecar(path: Path) -> Path:
    """Path of the origin file of `path`."""
    return path.with_name(path.name + SIDECAR)


def read_origin(path: Path) -> FileOrigin | None:
    """The origin that stands beside `path`; None where nothing does. `BadInput` for a bad one."""
    beside = sidecar(path)
    try:
        origin = _Sidecar.model_validate(tomllib.loads(beside.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise BadInput(f"{beside}: {error.strerror}; make it readable, or remove it") from None
    except ValidationError as error:
        raise BadInput(f"{beside}: {first_mistake(error)}; {_HINT}") from None
    except (ValueError, RecursionError) as error:  # no UTF-8, no TOML, or nested too deeply
        raise BadInput(f"{beside}: not TOML: {error}; {_HINT}") from None
    serial = beside.parent / origin.serial
    # A stranger's file must not send what lies elsewhere on this machine to a shared graph.
    if not serial.resolve().is_relative_to(beside.parent.resolve()):
        raise BadInput(f"{beside}: serial: {origin.serial} is in another folder; put it beside")
    if serial.exists() and not serial.is_file():
        raise BadInput(f"{beside}: serial: {origin.serial} is no file; {_HINT}")
    try:
        code = serial.read_text(encoding="utf-8")
    except OSError as error:
        raise BadInput(f"{serial}: {error.strerror}; give the serial code's file") from None
    except UnicodeDecodeError:
        raise BadInput(f"{serial}: not UTF-8 text; give the serial code's file") from None
    return FileOrigin(target=origin.target, problem=origin.problem, serial=code)
