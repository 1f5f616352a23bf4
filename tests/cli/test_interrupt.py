"""A Ctrl-C is never lost, wherever in the program it comes."""

import os
import signal
import sys
import time

import pytest

from regraph_kg.cli import press_again


class Ended:
    """Something whose destructor a Ctrl-C meets."""

    def __del__(self) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0)  # where Python looks for signals


def test_a_ctrl_c_in_a_destructor_comes_after_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "unraisablehook", press_again)
    with pytest.raises(KeyboardInterrupt):  # noqa: PT012 (it may come in either line)
        Ended()
        time.sleep(10)


def test_another_failure_of_a_destructor_is_told_as_ever(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Failing:
        def __del__(self) -> None:
            raise ValueError("of no consequence")

    monkeypatch.setattr(sys, "unraisablehook", press_again)
    Failing()
    assert "of no consequence" in capsys.readouterr().err
