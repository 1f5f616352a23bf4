"""The session in docs/curation.md, as typed, on the embedded store."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from regraph_kg.cli import app
from regraph_kg.settings import Settings
from tests.stores import environment

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "curation.md").read_text(encoding="utf-8")
FINDINGS = 1
"""Exit code of an audit that finds something."""


def session() -> list[tuple[str, list[str]]]:
    """Each command of the document, and the lines that it is said to print."""
    steps: list[tuple[str, list[str]]] = []
    for line in re.findall(r"^    (.*)$", TEXT, re.MULTILINE):
        if line.startswith("$ "):
            steps.append((line[2:], []))
        elif steps[-1][0].startswith("cat "):
            steps[-1] = (f"{steps[-1][0]}\n{line}", [])
        else:
            steps[-1][1].append(line)
    return steps


def test_the_session_of_the_document_runs_and_prints_what_it_says(
    embedded_settings: Settings,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in environment(embedded_settings).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("REGRAPH_CORPUS", str(ROOT / "corpus"))
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.chdir(tmp_path)
    steps = session()
    assert len(steps) >= 12
    for command, expected in steps:
        if not command.startswith("regraph "):
            subprocess.run(["bash", "-c", command], check=True)
            continue
        monkeypatch.setattr(sys, "argv", shlex.split(command))
        with pytest.raises(SystemExit) as ended:
            app.main()
        said = capsys.readouterr().out
        told = FINDINGS if command.endswith("audit") and "clean" not in said else 0
        assert (ended.value.code or 0) == told, (command, said)
        for line in expected:
            printed = re.escape(line).replace(re.escape("..."), ".*")
            assert re.search(f"^{printed}", said, re.MULTILINE), (line, said)


def test_the_document_names_every_finding_and_every_command() -> None:
    from regraph_kg.cli import curation, techniques  # noqa: PLC0415

    missing = [kind for kind in techniques.HEADINGS if f"| `{kind}` |" not in TEXT]
    deeds = [command.callback.__name__ for command in curation.app.registered_commands]
    assert {"merge", "accept"} <= {*deeds}
    missing += [deed for deed in deeds if not re.search(rf"`(mend )?{deed}\b", TEXT)]
    assert missing == []
