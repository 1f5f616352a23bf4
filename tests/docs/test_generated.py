"""What the documentation derives from the code is up to date."""

import difflib
import json
import runpy
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
GENERATE = ROOT / "docs" / "generate.py"
IN_A_PROCESS = (
    "import json, runpy, sys; made = runpy.run_path(sys.argv[1])['generated']();"
    " print(json.dumps({str(path): text for path, text in made.items()}))"
)
"""Of its own: what other tests did to the command line's settings must not show."""


def test_generated_documents_are_up_to_date() -> None:
    command = [sys.executable, "-c", IN_A_PROCESS, str(GENERATE)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    for name, text in json.loads(done.stdout).items():
        was = Path(name).read_text(encoding="utf-8").splitlines()
        changes = list(difflib.unified_diff(was, text.rstrip().splitlines(), lineterm="", n=0))
        assert changes == [], f"{name}: run python docs/generate.py"


def test_every_module_says_what_it_holds() -> None:
    modules = runpy.run_path(str(GENERATE))["modules"]()
    assert "| `regraph_kg/cli/docs.py` | `regraph docs`:" in modules
    assert [row for row in modules.splitlines() if row.endswith("|  |")] == []
