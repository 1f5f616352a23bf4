"""Ctrl-C during a call of the driver waits for the end, as a half-read answer is of no use.

Not covered: other signals, and calls from other threads, which Ctrl-C never reaches.
"""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def undisturbed() -> Iterator[None]:
    """Put a Ctrl-C off until the end; a second one acts at once.

    Any other error after a Ctrl-C is its consequence, and is dropped.
    """
    if (
        threading.current_thread() is not threading.main_thread()
        or signal.getsignal(signal.SIGINT) is not signal.default_int_handler
    ):
        yield
        return
    pressed = False

    def wait(number: int, frame: FrameType | None) -> None:
        nonlocal pressed
        if pressed:
            signal.default_int_handler(number, frame)
        pressed = True

    signal.signal(signal.SIGINT, wait)
    try:
        yield
    except BaseException:
        if not pressed:
            raise
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if pressed:
        raise KeyboardInterrupt
