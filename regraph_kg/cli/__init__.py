"""The command line: one file per noun; each parses, wires, calls and prints.

This module starts the program before any other module loads. Not covered: a Ctrl-C while Python
itself starts.
"""

import signal
import sys
import threading

from regraph_kg.errors import Interrupted

SOON = 0.05  # seconds after which a lost Ctrl-C comes again


def main() -> None:
    """Entry point of the `regraph` script; a Ctrl-C while it is loaded ends it like a later one."""
    sys.unraisablehook = press_again
    try:
        from regraph_kg.cli.app import main as run  # noqa: PLC0415 (takes half a second)

        run()
    except KeyboardInterrupt:
        sys.stderr.write("regraph: interrupted; run the same command again\n")
        sys.exit(Interrupted.exit_code)


def press_again(lost: "sys.UnraisableHookArgs") -> None:
    """Raise a Ctrl-C in a destructor, where Python only reports it, again outside of it."""
    if lost.exc_type is not KeyboardInterrupt:
        sys.__unraisablehook__(lost)
        return
    main_thread = threading.main_thread().ident
    assert main_thread is not None
    again = threading.Timer(SOON, signal.pthread_kill, (main_thread, signal.SIGINT))
    again.daemon = True
    again.start()
