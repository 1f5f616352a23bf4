"""Writes what documents derive from the code and the measurements.

Run `python docs/generate.py` after a change. Committed are settings, methods, results and schemas;
a test fails while they differ. Not committed are the pages of `built`, which the site needs as
files (`make docs`).
"""

import ast
import inspect
import itertools
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from typer.cli import get_docs_for_click
from typer.main import get_command

from regraph_kg.cli.app import COMMANDS, app, loaded
from regraph_kg.cli.docs import trajectory_schema
from regraph_kg.models.method import MethodSettings
from regraph_kg.search.methods import METHODS, kind_of
from regraph_kg.settings import Settings, setting_names, variable

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # benchmarks/ is no part of the installed program

from benchmarks.bench.results import read as read_results  # noqa: E402
from benchmarks.bench.tables import BenchSection, sections  # noqa: E402

METHODS_PAGE = ROOT / "docs" / "methods.md"
"""Generated in part: between its marks."""
ARCHITECTURE = ROOT / "docs" / "dev" / "architecture.md"
"""Generated in part, by `--sizes` alone."""
NO_PRODUCT = ("tests/", "benchmarks/", "corpus/", "docs/")
PROBLEMS_PAGE = ROOT / "docs" / "problems.md"
"""Generated in part, too."""
RESULTS = ROOT / "docs" / "results.md"
"""Generated in part, too; benchmarks/document.py writes another part."""
BENCHES = "<!-- begin: docs/generate.py, from docs/results/*.json -->"
SHOWN = ("arm", "problems", "calls", "solved", "speedup", "pass@1")
"""Columns of a bench's arms; `python -m benchmarks.bench --from FILE` shows all tables."""
OLDER = {
    f"shipped-{name}-qwen2.5-coder-{size}b" for name in ("cuda", "openmp") for size in (0.5, 1.5)
}
"""Benches from before small steps: the text says what came of them."""
STAGES = ("regraph_kg", "adopt", "collect", "ingest", "search", "evaluation")


def modules() -> str:
    """The module map: one row a file, its docstring's first line."""
    rows = ["# Modules", "", "Made by `docs/generate.py` from each file's first line.", ""]
    for stage in STAGES:
        rows += [f"## {stage}/", "", "| file | what it holds |", "|---|---|"]
        for path in sorted((ROOT / stage).rglob("*.py")):
            if any(parent.is_symlink() for parent in path.parents):
                continue
            line = (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").split(
                "\n"
            )
            rows.append(f"| `{path.relative_to(ROOT)}` | {line[0]} |")
        rows.append("")
    return "\n".join(rows)


SETTINGS = """# Settings

    regraph docs --settings                   # the values in force, and where each comes from
    export REGRAPH_STORE=neo4j://host:7687    # or a line in regraph.toml: store = "neo4j://host:7687"

The strongest source comes first: options of a command; the environment (`REGRAPH_` and the name in
capitals); `regraph.toml` of the current folder; `regraph.toml` of your configuration folder (on
Linux `~/.config/regraph/regraph.toml`); the default. In a file a setting is a line such as `model =
"ollama:qwen2.5-coder:7b"`.

A name that is no setting is refused, in the environment too; names that begin with `REGRAPH_TEST_`
belong to the test suite. A `regraph.toml` may come with a stranger's folder: no password or key
goes to an address that it names, unless it stands in the same file, and `workers` is not taken from
it (SECURITY.md). `docs/generate.py` writes this page from `regraph_kg/settings.py`.

| setting | default | what it is |
|---|---|---|"""


def words(path: Path, name: str) -> dict[str, str]:
    """The fields of the class `name` in a file, each with the words below it."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    (body,) = (one.body for one in tree.body if getattr(one, "name", "") == name)
    return {
        field.target.id: " ".join(text.value.value.split())
        for field, text in itertools.pairwise(body)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(text, ast.Expr)
        and isinstance(text.value, ast.Constant)
    }


def settings() -> str:
    """Every setting with its default, and the words below it in the code."""
    said = words(ROOT / "regraph_kg" / "settings.py", "Settings")
    rows = [
        f"| `{name}`<br>`{variable(name)}` | {_default(name)} | {said[name]} |"
        for name in setting_names()
    ]
    return "\n".join([SETTINGS, *rows])


def _default(name: str) -> str:
    """Folders differ from machine to machine; what they are is said in words."""
    value = Settings.model_fields[name].default
    return f"`{value}`" if isinstance(value, str | int | float) else ""


def methods() -> str:
    """docs/methods.md, with its list of methods and of their settings as the code has them."""
    head, begin, rest = METHODS_PAGE.read_text(encoding="utf-8").partition("<!-- begin")
    mark = rest.partition("-->")[0]
    rows = ["| method | needs |", "|---|---|"]
    told = []
    for name, line in METHODS.items():
        kind = kind_of(name)
        rows.append(f"| [`{name}`](#{name}) | {'a graph' if kind.walks else 'nothing'} |")
        told += ["", f"### `{name}`", line, *_settings_of(kind.settings)]
    end = rest[rest.index("<!-- end") :]
    return head + "\n".join([f"{begin}{mark}-->", *rows, *told, end])


def _settings_of(kind: type[MethodSettings]) -> list[str]:
    """The table of a method's settings; none where there is nothing to set."""
    said = words(Path(inspect.getfile(kind)), kind.__name__)
    defaults = kind.model_validate({}).model_dump(exclude={"method"})
    rows = [
        f"| `{field}` | {'none' if default is None else default} |"
        f" {said[field].removesuffix('.')} |"
        for field, default in defaults.items()
    ]
    table = ["", "| setting | default | what it is |", "|---|---|---|", *rows]
    return table if rows else ["Nothing to set."]


def problems() -> str:
    """docs/problems.md, with the strangers' functions between its marks."""
    head, begin, rest = PROBLEMS_PAGE.read_text(encoding="utf-8").partition("<!-- begin")
    mark, end = rest.partition("-->")[0], rest[rest.index("<!-- end") :]
    rows = ["| function | field | as people write it |", "|---|---|---|"]
    for path in sorted((ROOT / "benchmarks" / "strangers").glob("*/about.toml")):
        about = tomllib.loads(path.read_text(encoding="utf-8"))
        rows.append(_row([path.parent.name, about["field"], about["pattern"]]))
    return head + "\n".join([f"{begin}{mark}-->", *rows, end])


def results() -> str:
    """docs/results.md, with what the committed results of benches show between its marks."""
    head, begin, rest = RESULTS.read_text(encoding="utf-8").partition(BENCHES)
    end = rest[rest.index("<!-- end") :]
    lines = []
    for file in sorted((ROOT / "docs" / "results").glob("*.json")):
        for section in sections(read_results(file)):
            lines += [] if file.stem in OLDER else _section(file.stem, section)
    return "\n".join([f"{head}{begin}", *lines, end])


def _section(name: str, section: BenchSection) -> list[str]:
    """A circumstance: what its figures depend on, and what each arm reached."""
    facts, title = section.facts, section.title
    device = facts["device"].partition(" (")[0]
    about = [title, facts["begun"][:10], device, f"judge {facts['judge']}", facts["searches"]]
    (arms,) = [table for table in section.tables if table.title == "Arms"]
    lines = [f"### {name}", "", f"{'; '.join(about)} searches.", ""]
    lines += [_row(SHOWN), "|---" * len(SHOWN) + "|"]
    for row in arms.rows:
        cells = dict(zip(arms.columns, row, strict=True))
        lines.append(_row([cells[column] for column in SHOWN]))
    return [*lines, ""]


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', '&#124;') for cell in cells)} |"


def sizes() -> str:
    """docs/dev/architecture.md, with its table of sizes as the tracked files have them now."""
    head, begin, rest = ARCHITECTURE.read_text(encoding="utf-8").partition("<!-- begin: sizes")
    mark, end = rest.partition("-->")[0], rest[rest.index("<!-- end") :]
    commit = _git("log", "-1", "--format=%h, %as").strip()
    rows = [f"| at {commit} | files | lines |", "|---|---:|---:|"]
    rooms = Counter(_room(Path(name)) for name in _git("ls-files", "*.py").split())
    lines = Counter[str]()
    for name in _git("ls-files", "*.py").split():
        lines[_room(Path(name))] += (ROOT / name).read_bytes().count(b"\n")
    product = [room for room in rooms if room not in NO_PRODUCT]
    for room in sorted(product, key=lambda room: -lines[room]):
        rows.append(f"| `{room}` | {rooms[room]} | {lines[room]:,} |")
    totals = (sum(rooms[room] for room in product), sum(lines[room] for room in product))
    rows.append(f"| **product** | **{totals[0]}** | **{totals[1]:,}** |")
    rows += [f"| `{room}` | {rooms[room]} | {lines[room]:,} |" for room in NO_PRODUCT]
    pages = _git("ls-files", "*.md").split()
    words_in_all = sum(len((ROOT / page).read_text(encoding="utf-8").split()) for page in pages)
    rows.append(f"| pages (`.md`), in words | {len(pages)} | {words_in_all:,} |")
    return head + "\n".join([f"{begin}{mark}-->", *rows, end])


def _room(path: Path) -> str:
    """The first folder, and the second one within the package."""
    folders = path.parts[:-1]
    return "/".join(folders[: 2 if folders[:1] == ("regraph_kg",) else 1]) + "/"


def _git(*words: str) -> str:
    return subprocess.run(
        ["git", *words], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout


def commands() -> str:
    """The command reference, from the help texts."""
    command: Any = get_command(app)
    command.commands = {name: loaded(name) for name in COMMANDS}
    context: Any = command.make_context("regraph", [], resilient_parsing=True)
    return get_docs_for_click(obj=command, ctx=context, name="regraph")


def built() -> dict[Path, str]:
    """Pages of the site that are not committed, and their texts."""
    return {
        ROOT / "docs" / "cli.md": commands(),
        ROOT / "docs" / "dev" / "modules.md": modules(),
    }


def generated() -> dict[Path, str]:
    """Every committed file that is generated, and its text."""
    return {
        ROOT / "docs" / "settings.md": settings(),
        METHODS_PAGE: methods(),
        PROBLEMS_PAGE: problems(),
        RESULTS: results(),
        ROOT / "docs" / "trajectory.schema.json": trajectory_schema(),
    }


if __name__ == "__main__":
    # A table of sizes changes with every commit: it is written when asked for, and dated.
    asked = {ARCHITECTURE: sizes()} if "--sizes" in sys.argv else {}
    for file, text in (generated() | built() | asked).items():
        file.write_text(text.rstrip() + "\n", encoding="utf-8")
