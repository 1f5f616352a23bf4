"""`regraph optimize`: search for faster code, trace the search, print the best and its path.

Here: what the command takes, and its help, which loads nothing else. Its work: running.py.
"""

import typer

from regraph_kg.cli.options import SETTABLE, Options, set_names, takes_options
from regraph_kg.search.methods import METHODS

EPILOG = "\n\n".join(
    [
        "Methods:",
        *(f"{name}: {line}" for name, line in METHODS.items()),
        "Settings of --set, besides the method's own (regraph docs methods):",
        *(f"{prefix}NAME: {', '.join(set_names(kind))}" for prefix, kind in SETTABLE.items()),
    ]
)


@takes_options
def optimize(options: Options) -> None:
    """Search for a faster version of PROBLEM: a model proposes, compiler and clock judge.

    The best three are measured again in fresh processes; only that speedup is reported, and code
    that is not surely faster than the serial code is no answer. Ctrl-C keeps the best so far.

    optimize FILE.cpp --function NAME does regraph problem new and this in one go.

    --fast is for a first look. --model batch:FOLDER only writes the prompts.

    Exit code 0: faster code found; 1: none found; 4: stopped, or 5: waiting for answers by file,
    and the command to go on is printed.
    """
    # help needs no store, no judge and no models
    from regraph_kg.cli.running import run  # noqa: PLC0415

    if not run(options):
        raise typer.Exit(1)
