"""A Ctrl-C is never lost, wherever in the program it comes."""

import os
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

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


LOADING = """
import sys
class Interrupts:
    def find_spec(self, name, path=None, target=None):
        if name == "typer":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupts())
from regraph_kg.cli import main
main()
"""


def test_an_interrupt_while_it_is_loaded_is_one_line() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOADING], capture_output=True, text=True, check=False
    )
    assert done.returncode == 4
    assert done.stderr == "regraph: interrupted; run the same command again\n"


def test_the_command_begins_there() -> None:
    text = (Path(__file__).parents[2] / "pyproject.toml").read_text()
    assert tomllib.loads(text)["project"]["scripts"] == {"regraph": "regraph_kg.cli:main"}
