"""What the builds of real servers share: a server is built once, and a line says how it went."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path


def install(
    name: str,
    where: str,
    built: Callable[[], Path | None],
    missing: Callable[[], str | None],
    build: Callable[[], None],
) -> int:
    """Build it where it is not there; a line says what was done or why not. The exit code.

    `build` raises CalledProcessError with its output when a step fails.
    """
    if there := built():
        sys.stdout.write(f"{there}\n")
        return 0
    reason = missing()
    if reason is None:
        sys.stderr.write(f"building {name} {where} ...\n")
        try:
            build()
        except subprocess.CalledProcessError as error:
            reason = f"{Path(error.cmd[0]).name}: {_last_error(error.stderr)}"
    if reason is not None:
        sys.stderr.write(f"{name} for the tests: not built ({reason})\n")
        return 3
    sys.stdout.write(f"{built()}\n")
    return 0


def _last_error(said: str) -> str:
    """The line that matters: pip ends with hints."""
    lines = said.strip().splitlines() or ["no output"]
    return next((line for line in reversed(lines) if line.startswith("ERROR")), lines[-1])
