"""`regraph --help` lists every command without loading one."""

import subprocess
import sys

from regraph_kg.cli.app import COMMANDS, loaded


def test_every_listed_command_is_one() -> None:
    assert all(loaded(name).help for name in COMMANDS)


def test_the_list_of_commands_loads_none_of_them() -> None:
    script = (
        "import sys; from regraph_kg.cli.app import app\n"
        "app(['--help'], standalone_mode=False)\n"
        "heavy = {'pydantic', 'numpy', 'regraph_kg.wiring', 'regraph_kg.cli.optimize'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    assert "optimize" in done.stdout
    assert done.stdout.splitlines()[-1] == "[]"
