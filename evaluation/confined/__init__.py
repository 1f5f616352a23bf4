"""Confined processes: workers, compilers, a problem's inputs.py; standard library only.

They are started as a package of its own, `confined`, which knows nothing of regraph: whoever is
confined imports no more than it needs, as each module costs milliseconds.
"""

import os
import sys

FOLDER = os.path.dirname(os.path.realpath(__file__))
_START = (
    "import sys; sys.path.append(sys.argv[1]); from confined import {0} as it; sys.path.pop();"
    " it.start(*sys.argv[2:])"
)
"""Imported, not run by path, so that it is translated once and kept, not each time."""


def command(module: str, *arguments: str, packages: bool = False) -> list[str]:
    """A bare Python, without installed packages but where asked, in a module's function `start`."""
    flags = ("-I", *(() if packages else ("-S",)), *(("-B",) if sys.dont_write_bytecode else ()))
    above = os.path.dirname(FOLDER)
    return [sys.executable, *flags, "-c", _START.format(module), above, *arguments]
