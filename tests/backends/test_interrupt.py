"""A Ctrl-C during a call waits for its end; a second one does not."""

import os
import signal
import threading

import pytest

from regraph_kg.backends.interrupt import undisturbed


def press() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def test_a_ctrl_c_comes_after_the_call() -> None:
    done = False
    with pytest.raises(KeyboardInterrupt), undisturbed():
        press()
        done = True
    assert done
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_second_ctrl_c_comes_at_once() -> None:
    done = False
    with pytest.raises(KeyboardInterrupt), undisturbed():
        press()
        press()
        done = True
    assert not done
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_what_fails_after_a_ctrl_c_is_its_consequence_and_what_fails_without_is_told() -> None:
    with pytest.raises(KeyboardInterrupt), undisturbed():
        press()
        raise OSError("a connection in pieces")
    with pytest.raises(OSError, match="no ctrl-c"), undisturbed():
        raise OSError("no ctrl-c")


def test_inside_another_call_and_another_thread_nothing_is_changed() -> None:
    seen = []

    def look() -> None:
        with undisturbed():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert seen == [signal.default_int_handler]
    with pytest.raises(KeyboardInterrupt), undisturbed():
        look()
        press()
    assert seen[1] is not signal.default_int_handler
