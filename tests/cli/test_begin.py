"""The program's first half second: a Ctrl-C while it is loaded ends it as a later one does."""

import subprocess
import sys
import tomllib
from pathlib import Path

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
