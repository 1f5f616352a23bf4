"""What the program tells users to type exists: commands, options, settings, documents, extras.

Collected from the text of the program and of the documents, so that a new message is checked, too.
Not covered: whether a command mends what it is printed for; commands of others (apt, ollama).
"""

import ast
import os
import re
import sys
from collections.abc import Iterator
from functools import cache
from importlib.metadata import metadata, requires
from pathlib import Path
from typing import Any

import pytest
import typer.main
from packaging.requirements import Requirement

from regraph_kg import remedies
from regraph_kg.cli.app import app
from regraph_kg.cli.docs import MADE
from regraph_kg.settings import TESTS, setting_names, variable
from tests.in_process import regraph

ROOT = Path(__file__).parents[2]
DOCUMENTS = [
    *ROOT.glob("*.md"),
    *(ROOT / "docs").glob("*.md"),
    *(ROOT / "docs" / "dev").glob("*.md"),
    *(ROOT / "docker").iterdir(),
    ROOT / "docs" / "demo.sh",
    ROOT / "corpus" / "README.md",
    ROOT / "regraph_kg" / "cli" / "troubleshooting.txt",
]
HISTORY = {"CHANGELOG.md", "LOG.md"}
"""Tell of commands as they were."""
PLACE = "\0"
"""A value in a message, whatever it will be."""
COMPILERS = {"REGRAPH_CUDA", "REGRAPH_DEVICE", "REGRAPH_SEED"}
"""Defined for compilers and for a project's own commands, and no settings."""
PROSE = {
    "is",
    "has",
    "needs",
    "had",
    "and",
    "itself",
    "can",
    "does",
    "in",
    "with",
    "will",
    "starts",
}
"""Words that follow the program's name where it is the subject of a sentence."""
COMMAND = re.compile(r"(?<![\w/.-])regraph (?P<words>[^\n`;)(|#]*)")
WORD = re.compile(r"[a-z][a-z-]*")
OPTION = re.compile(r"--?[a-z][a-z-]*")


def sources() -> list[Path]:
    folders = ("regraph_kg", "adopt", "collect", "ingest", "search", "evaluation")
    found = (path for folder in folders for path in (ROOT / folder).rglob("*.py"))
    return sorted(p for p in found if not any(parent.is_symlink() for parent in p.parents))


@cache
def messages(path: Path) -> tuple[str, ...]:
    """Strings of a module that users may see: no docstrings but those of commands (their help)."""
    return tuple(_messages(path))


def _messages(path: Path) -> Iterator[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    silent: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            silent |= {id(part) for part in node.values}
        body = getattr(node, "body", None)
        if isinstance(body, list) and path.parent.name != "cli":
            silent |= {id(one.value) for one in body if isinstance(one, ast.Expr)}
    for node in ast.walk(tree):
        if id(node) in silent:
            continue
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
        elif isinstance(node, ast.JoinedStr):
            parts = (
                value.value if isinstance(value, ast.Constant) else PLACE for value in node.values
            )
            yield "".join(map(str, parts))


def texts() -> Iterator[tuple[str, str]]:
    """File and text of everything that a user reads."""
    for path in sources():
        for text in messages(path):
            yield str(path.relative_to(ROOT)), text
    for path in DOCUMENTS:
        if path.name not in HISTORY:
            yield str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")


@cache
def command_line() -> Any:
    """Every command of ours; it takes long to make."""
    return typer.main.get_command(app)


def wrong(words: str) -> str | None:
    """What of "techniques undo 3 --why ..." the command line does not know."""
    command = command_line()
    rest = re.sub(r"\\?\s+", " ", words).split(" ")
    if not rest[0] or rest[0] in PROSE or not (WORD.fullmatch(rest[0]) or rest[0][0] == "-"):
        return None
    while rest and hasattr(command, "commands") and WORD.fullmatch(rest[0].rstrip(".,:'\"")):
        name = rest.pop(0).rstrip(".,:'\"")
        if name not in command.commands:
            return f"no command {name!r}"
        command = command.get_command(typer.Context(command), name)
    known = {word for param in command.params for word in (*param.opts, *param.secondary_opts)}
    for word in rest:
        option = OPTION.match(word)
        if option and option[0] not in known | {"--help", "-h", "--version", "--debug"}:
            return f"no option {option[0]!r} of {command.name}"
    return None


def told() -> Iterator[tuple[str, str]]:
    """File and words of every command of ours that is told; prose ends at a comma."""
    for where, text in texts():
        for match in COMMAND.finditer(text.replace("\\\n", " ")):
            yield where, re.split(r", |\. |: |\"", match["words"])[0]


def test_every_command_that_is_told_exists_with_its_options() -> None:
    found = list(told())
    assert len(found) > 150
    failed = [(where, words, why) for where, words in found if (why := wrong(words))]
    assert failed == []


@pytest.mark.parametrize(
    "words", ["ingets x", "ingest --startre", "techniques mrege", "graph check --repare"]
)
def test_a_command_that_does_not_exist_is_noticed(words: str) -> None:
    assert wrong(words)


def test_every_setting_that_is_told_exists() -> None:
    known = {*map(variable, setting_names()), *COMPILERS}
    named = {
        (where, name)
        for where, text in texts()
        for name in re.findall(r"\bREGRAPH_[A-Z0-9_]*[A-Z0-9]\b", text)
    }
    assert len(named) > 40
    assert {(where, one) for where, one in named if one not in known and TESTS not in one} == set()


def test_every_document_that_is_told_is_shipped() -> None:
    docs = ROOT / "regraph_kg" / "docs"
    shipped = {path.stem for path in (*docs.glob("*.md"), *(docs / "dev").glob("*.md"))}
    shipped = shipped - {"modules"} | set(MADE)
    named = {
        (where, name)
        for where, text in texts()
        for name in re.findall(r"\bregraph\s+docs\s+([A-Za-z][A-Za-z-]*)", text)
    }
    assert {name for _, name in named} >= {"problems", "methods", "SECURITY"}
    assert {(where, name) for where, name in named if name not in shipped} == set()


def test_no_message_names_a_file_that_an_installation_lacks() -> None:
    """Documents are read by `regraph docs`; the folders of a checkout are not there."""
    named = [
        (str(path.relative_to(ROOT)), text)
        for path in sources()
        for text in messages(path)
        if re.search(r"\b(see|\() ?docs/|\bcorpus/[a-z]", text) and PLACE in text
    ]
    assert named == []


def extras() -> list[str]:
    return metadata(remedies.PACKAGE).get_all("Provides-Extra") or []


def test_every_extra_is_installed_by_its_packages() -> None:
    """Each package of the metadata, and none besides, as a requirement that pip reads."""
    for extra in extras():
        wanted = {
            str(one).partition(";")[0].strip()
            for text in requires(remedies.PACKAGE) or ()
            if (one := Requirement(text)).marker and one.marker.evaluate({"extra": extra})
        }
        assert {str(Requirement(package)) for package in remedies.packages(extra)} == wanted
        assert wanted


def test_only_one_module_says_how_to_install_packages() -> None:
    found = {
        str(path.relative_to(ROOT))
        for path in sources()
        for text in messages(path)
        if "pip install" in text
    }
    assert found == {"regraph_kg/remedies.py"}
    asked = {
        extra
        for path in sources()
        for extra in re.findall(r"remedies\.install\(['\"](\w+)['\"]\)", path.read_text("utf-8"))
    }
    assert asked == {"cuda", "ray", "embed", "mcp"}
    assert asked <= set(extras())


def test_documents_install_from_the_checkout() -> None:
    """The package is on no index: `pip install regraph-kg` would be somebody else's."""
    bad = [
        (where, found)
        for where, text in texts()
        for found in re.findall(r"install\s+['\"]?regraph[-_]kg(?!-\d)[^\s`]*", text)
    ]
    assert bad == []


@pytest.mark.parametrize("pip", ["on PATH", "as a module", "by uv"])
def test_the_installer_is_that_of_the_running_python(
    pip: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setattr(remedies, "find_spec", lambda _: pip == "as a module" or None)
    if pip == "on PATH":
        (tmp_path / "pip").write_text("#!/bin/sh\n")
        (tmp_path / "pip").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    starts = {
        "on PATH": "pip install ray",
        "as a module": f"{tmp_path}/python -m pip install ray",
        "by uv": f"uv pip install --python {tmp_path}/python ray",
    }
    assert remedies.install("ray").replace("'", "").startswith(starts[pip])


def test_the_program_prints_its_documents() -> None:
    listed = regraph("docs", folder=ROOT)
    users, developers = listed.stdout.split("For developers:")
    assert "problems" in users
    assert "method " in developers
    assert "problem.toml" in regraph("docs", "problems", folder=ROOT).stdout
    for name in MADE:
        assert f"\n{name} " in users
        made = regraph("docs", name, folder=ROOT)
        assert len(made.stdout.splitlines()) > 100
    absent = regraph("docs", "problem", folder=ROOT)
    assert absent.returncode == 2
    assert "did you mean regraph docs problems?" in absent.stderr
