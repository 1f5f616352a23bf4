"""What code, tests and documents cite is there: documents, sections, decisions, links, files.

Not covered: `regraph` commands (test_remedies.py), addresses on the web, documents and
files that the log and the changelog name: they tell what was.
"""

import ast
import re
import runpy
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = (
    *(
        "adopt",
        "benchmarks",
        "collect",
        "corpus",
        "cypher",
        "docker",
        "docs",
        "evaluation",
        "ingest",
    ),
    *("regraph_kg", "search", "tests"),
)
"""Of ours; what else lies in a clone is a user's."""
SUFFIXES = {".py", ".md", ".cypher", ".toml", ".cpp", ".cu", ".sh", ".yaml", ".yml"}
HISTORY = {"LOG.md", "CHANGELOG.md"}
RESULTS = "results.md"
"""Tells the commands with which its figures were taken, whenever that was."""
THEIRS = {"ask.py", "setup.py", "bench.py", "fast.py", "tests/test_kernel.py"}
"""A reader's own files in what documents tell him to do."""
PLACEHOLDER = re.compile(r"\b[A-Z]+\b(?!\.md)")
"""In a path: what stands for any name."""
MADE = {"cli.md", "corpus.md", "troubleshooting.md", "modules.md"}
"""Documents that are not committed: docs/generate.py makes them."""
DOCUMENTS = ("", "docs", "docs/dev", "docs/dev/decisions")
"""Where a document is looked for that is named without its folder."""

NAME = r"((?:[\w.-]+/)*[\w-]+\.md)"
NUMBER = r"\d(?:\.\d)?"
DOCUMENT = re.compile(rf"(?<![\w/:.-]){NAME}\b")
NUMBERS = re.compile(rf"{NAME},?\s+(?:sections? )?({NUMBER}(?:(?:, | and ){NUMBER})*)\b(?!\.\d| %)")
TITLE = re.compile(rf"{NAME}\)?,\s+\"([^\"]+)\"")
DECISION = re.compile(r"\bADR (\d{4})\b")
LINK = re.compile(r"\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]+))?\)")
QUOTED = re.compile(r"`((?:[\w.-]+/)+(?:[\w.-]+)?)`")
MODULE = re.compile(r"(?<![\w/*<{.-])((?:[\w-]+/)*[a-z]\w*\.py)\b")
COMMAND = re.compile(r"python (?:-m benchmarks\.(\w+)|benchmarks/(\w+)\.py)(?: ([a-z_]+)\b)?")


@cache
def texts() -> dict[Path, str]:
    """Every file of ours that a person reads, by its path from the root."""
    found = [path for path in ROOT.iterdir() if path.suffix in SUFFIXES]
    for folder in FOLDERS:
        found += [path for path in (ROOT / folder).rglob("*") if path.suffix in SUFFIXES]
    return {
        path.relative_to(ROOT): path.read_text(encoding="utf-8", errors="replace")
        for path in sorted(found)
        if path.is_file() and not path.is_symlink()
    }


@cache
def files() -> frozenset[str]:
    """Every file of ours from the root, with the name that it is imported by, too."""
    found = {path.name for path in ROOT.iterdir() if path.is_file()}
    for folder in FOLDERS:
        for path in (ROOT / folder).rglob("*"):
            name = path.relative_to(ROOT).as_posix()
            found |= {name, f"regraph_kg/{name}"} if path.is_file() else set()
    return frozenset(found)


@cache
def endings() -> frozenset[str]:
    """What a file may be called: its path from the root or from any folder on the way."""
    parts = (name.split("/") for name in files())
    return frozenset("/".join(part[n:]) for part in parts for n in range(len(part)))


def document(name: str, source: Path) -> Path | None:
    """The document that `source` means by `name`."""
    for folder in (ROOT / source.parent, *(ROOT / one for one in DOCUMENTS)):
        if (folder / name).is_file():
            return folder / name
    return None


def headings(path: Path) -> list[str]:
    """The headings of a document, without their marks; bold words that begin a paragraph, too."""
    text = re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.M | re.S)
    return re.findall(r"^(?:#+ |\*\*)(.*?)(?:\*\*.*)?$", text, re.MULTILINE)


def anchor(heading: str) -> str:
    """The name that a heading has in a link."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def prose(path: Path, text: str) -> str:
    """What a file says to its reader: of a source the docstrings and comments."""
    if path.suffix != ".py":
        return text
    nodes = [node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Expr)]
    said = [str(node.value) for node in nodes if isinstance(node, ast.Constant)]
    return "\n".join([*said, *re.findall(r"(?:^|\s)#.*$", text, re.MULTILINE)])


@cache
def ours() -> tuple[tuple[Path, str], ...]:
    """What cites: all but this file."""
    own = Path(__file__).relative_to(ROOT)
    return tuple((path, prose(path, text)) for path, text in texts().items() if path != own)


def today() -> Iterator[tuple[Path, str]]:
    """Of these what speaks of today's files: the log, the changelog and decisions tell what was."""
    for path, text in ours():
        if path.name not in HISTORY and path.parent.name != "decisions":
            yield path, text


def test_documents_that_are_named_exist() -> None:
    missing = [
        f"{path}: {name}"
        for path, text in texts().items()
        if path != Path(__file__).relative_to(ROOT) and path.name not in HISTORY
        for name in DOCUMENT.findall(text)
        if document(name, path) is None
        and name not in endings()
        and name.rpartition("/")[2] not in MADE
    ]
    assert not missing, "\n".join(missing)


def test_sections_that_are_named_exist() -> None:
    missing, seen = [], 0
    for path, text in ours():
        for name, numbers in NUMBERS.findall(text):
            found = document(name, path)
            known = [heading.split()[0].rstrip(".") for heading in headings(found)] if found else []
            for number in re.findall(NUMBER, numbers):
                seen += 1
                missing += [] if number in known else [f"{path}: {name} {number}"]
        for name, title in TITLE.findall(text):
            found = document(name, path)
            if found is None or " ".join(title.split()) not in headings(found):
                missing.append(f'{path}: {name}, "{title}"')
    assert not missing, "\n".join(missing)
    assert seen > 10


def test_decisions_that_are_named_exist_and_are_listed() -> None:
    decisions = ROOT / "docs" / "dev" / "decisions"
    known = {path.name[:4]: path.name for path in decisions.glob("[0-9]*.md")}
    missing = [
        f"{path}: ADR {number}"
        for path, text in ours()
        for number in DECISION.findall(text)
        if number not in known
    ]
    assert not missing, "\n".join(missing)
    assert set(LINK.findall(texts()[Path("docs/dev/decisions/README.md")])) == {
        (name, "") for name in known.values()
    }


def test_links_lead_somewhere() -> None:
    missing = []
    for path, text in texts().items():
        if path.suffix != ".md":
            continue
        for target, place in LINK.findall(re.sub(r"`[^`\n]*`", "", text)):
            aim = ROOT / path.parent / target if target else ROOT / path
            if not aim.exists():
                missing.append(f"{path}: {target}")
            elif place and place not in map(anchor, headings(aim)):
                missing.append(f"{path}: {target}#{place}")
    assert not missing, "\n".join(missing)


def test_files_and_folders_that_are_named_exist() -> None:
    inside = {path.name for path in (ROOT / "regraph_kg").iterdir() if path.is_dir()}
    missing = []
    for path, text in today():
        for name in QUOTED.findall(text):
            known = name.split("/")[0] in {*FOLDERS, *inside} and not PLACEHOLDER.search(name)
            places = (ROOT / name, ROOT / "regraph_kg" / name, ROOT / path.parent / name)
            if known and not any(place.exists() for place in places):
                missing.append(f"{path}: {name}")
    assert not missing, "\n".join(missing)


def test_modules_that_are_named_exist() -> None:
    missing = [
        f"{path}: {name}"
        for path, text in today()
        for name in MODULE.findall(text)
        if name not in endings() and name not in THEIRS
    ]
    assert not missing, "\n".join(missing)


def test_benchmarks_can_be_called_as_they_are_said_to_be() -> None:
    """One that imports others' code is found as a module, or through run.py, alone."""
    names = runpy.run_path(str(ROOT / "benchmarks" / "run.py"))["NAMES"]
    scripts = {path.stem: text for path, text in texts().items() if path.parts[0] == "benchmarks"}
    alone = {
        name
        for name, text in scripts.items()
        if not re.search(r"^(?:from|import) (?:benchmarks|tests)\b", text, re.MULTILINE)
    }
    wrong = []
    for path, text in today():
        if path.name == RESULTS:
            continue
        for module, script, argument in COMMAND.findall(text):
            if module:
                right = module in scripts
            elif script == "run":
                right = not argument or argument in names
            else:
                right = script in alone
            wrong += [] if right else [f"{path}: {module or script} {argument}"]
    assert not wrong, "\n".join(wrong)
