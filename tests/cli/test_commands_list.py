"""`regraph --help` lists every command without loading one, and says what each says of itself."""

import subprocess
import sys

import typer.main

from regraph_kg.cli.app import COMMANDS, app, line


def test_the_list_of_commands_says_what_each_says_of_itself() -> None:
    group = typer.main.get_command(app)
    context = typer.Context(group)
    for name in COMMANDS:
        command = group.get_command(context, name)
        said = command.help.replace("\b", "").partition("\n\n")[0]
        assert said.split() == line(name).split() != []


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
