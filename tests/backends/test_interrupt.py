"""A Ctrl-C during a call waits for its end; a second one does not."""

import os
import signal

import pytest

from regraph_kg.backends.bolt import _undisturbed as undisturbed


def press() -> None:
    os.kill(os.getpid(), signal.SIGINT)


class Call:
    """A call of the driver that is interrupted `presses` times, and may fail then."""

    def __init__(self, presses: int, failure: Exception | None = None) -> None:
        self.presses, self.failure, self.finished = presses, failure, False

    def __call__(self) -> None:
        with undisturbed():
            for _ in range(self.presses):
                press()
            if self.failure is not None:
                raise self.failure
            self.finished = True


def test_a_ctrl_c_comes_after_the_call() -> None:
    call = Call(presses=1)
    with pytest.raises(KeyboardInterrupt):
        call()
    assert call.finished
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_second_ctrl_c_comes_at_once() -> None:
    call = Call(presses=2)
    with pytest.raises(KeyboardInterrupt):
        call()
    assert not call.finished
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_what_fails_after_a_ctrl_c_is_its_consequence_and_what_fails_without_is_told() -> None:
    with pytest.raises(KeyboardInterrupt):
        Call(1, OSError("a connection in pieces"))()
    with pytest.raises(OSError, match="no ctrl-c"):
        Call(0, OSError("no ctrl-c"))()
