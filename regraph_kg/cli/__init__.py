"""The command line: one file per noun; each parses, wires, calls and prints.

Here the program begins, before anything else of it is loaded. Not covered: a Ctrl-C while Python
itself starts.
"""

import sys

from regraph_kg.errors import Interrupted


def main() -> None:
    """Entry point of the `regraph` script; a Ctrl-C while it is loaded ends it like a later one."""
    try:
        from regraph_kg.cli.app import main as run  # noqa: PLC0415 (takes half a second)

        run()
    except KeyboardInterrupt:
        sys.stderr.write("regraph: interrupted; run the same command again\n")
        sys.exit(Interrupted.exit_code)
