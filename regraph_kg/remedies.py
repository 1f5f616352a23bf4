"""Commands that install what is missing, right for the Python that prints them.

This package is on no index, so that an extra is named by its packages, from the installed
metadata. Not covered: tools outside Python's packages (compilers, drivers, servers).
"""

import re
import shlex
import shutil
import sys
from importlib.metadata import requires
from importlib.util import find_spec
from pathlib import Path

PACKAGE = "regraph-kg"
_OF_AN_EXTRA = re.compile(r"(?P<package>[^;]+?)\s*;.*\bextra == [\"'](?P<extra>[^\"']+)[\"']")


def packages(extra: str) -> tuple[str, ...]:
    """The packages of an optional extra, as "name[parts]>=version"."""
    matches = map(_OF_AN_EXTRA.match, requires(PACKAGE) or ())
    return tuple(match["package"] for match in matches if match and match["extra"] == extra)


def install(extra: str) -> str:
    """The command that installs an extra's packages into the Python that runs this."""
    return " ".join([_installer(), *map(shlex.quote, packages(extra))])


def _installer() -> str:
    """`pip install` where that is this Python's own, else with this Python named."""
    python, pip = Path(sys.executable), shutil.which("pip")
    if pip and Path(pip).parent == python.parent:
        return "pip install"
    if find_spec("pip"):
        return f"{shlex.quote(str(python))} -m pip install"
    return f"uv pip install --python {shlex.quote(str(python))}"
