"""How long a newcomer waits: `make demo` and `regraph doctor`, each with empty folders, then again.

`python benchmarks/run.py first_use`; prints one JSON object. Asked for on an idle machine: the demo
in 60 s, doctor in 20 s. "first" has nothing compiled or measured, and a graph to grow; "again" has
what the first one kept (of the demo: what the judge compiled and found of the problem; its graph is
grown anew). "load" is the machine's when the command began: above half the cores its figures say
nothing. Not covered: installing.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
BIN = Path(sys.executable).parent
COMMANDS = {"demo": ["bash", "docs/demo.sh"], "doctor": ["regraph", "doctor"]}
STOP_STORE = "from regraph_kg import settings, wiring; stop_embedded(settings.read_settings())"


def seconds(command: list[str], folder: Path) -> float:
    """Wall-clock time of a command whose settings are our own; 1 is doctor's "something is red"."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith("REGRAPH_")}
    environment = ours | {
        "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
        "REGRAPH_DATA_DIR": str(folder / "data"),
        "REGRAPH_CACHE_DIR": str(folder / "cache"),
    }
    start = time.perf_counter()
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=False)
    took = time.perf_counter() - start
    if done.returncode not in (0, 1):
        raise SystemExit(done.stderr.decode())
    subprocess.run([sys.executable, "-c", STOP_STORE], env=environment, check=False)
    shutil.rmtree(folder / "data", ignore_errors=True)
    return took


def rows() -> Iterator[dict[str, Any]]:
    """Of each command, first and again."""
    for name, command in COMMANDS.items():
        with tempfile.TemporaryDirectory() as folder:
            for which in ("first", "again"):
                load = os.getloadavg()[0]
                took = seconds(command, Path(folder))
                yield {"command": name, "which": which, "seconds": took, "load": load}


if __name__ == "__main__":
    json.dump({"rows": list(rows())}, sys.stdout)
