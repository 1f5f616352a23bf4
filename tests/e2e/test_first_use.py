"""What the README promises a newcomer, as typed."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from importlib.metadata import version
from pathlib import Path

import pytest

from regraph_kg.settings import Settings
from tests.stores import stop_embedded

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BIN = Path(sys.executable).parent


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {
        **{name: value for name, value in os.environ.items() if not name.startswith("REGRAPH_")},
        "PATH": f"{BIN}:{os.environ['PATH']}",
        "REGRAPH_DATA_DIR": str(tmp_path / "data"),
        "REGRAPH_CACHE_DIR": str(tmp_path / "cache"),
    }


def run(environment: dict[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        words, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=600, check=False
    )


def stop_store(environment: dict[str, str]) -> None:
    stop_embedded(Settings(data_dir=Path(environment["REGRAPH_DATA_DIR"])))


@pytest.mark.nightly
@pytest.mark.timeout(600)
def test_the_demo_finds_faster_code(environment: dict[str, str], tmp_path: Path) -> None:
    """Seconds are not asserted: a busy machine takes longer."""
    done = run(environment, "bash", "docs/demo.sh")
    stop_store(environment)
    assert done.returncode == 0, done.stdout + done.stderr
    found = re.search(r"reduction \(openmp\): ([\d.]+)x faster", done.stdout)
    assert found, done.stdout
    assert float(found.group(1)) > 1.5
    assert "left out" in done.stdout
    assert "reduction" in (tmp_path / "data" / "reduction.cpp").read_text()
    (trace,) = (tmp_path / "data" / "runs").glob("*.jsonl")
    lines = [json.loads(line) for line in trace.read_text(encoding="utf-8").splitlines()]
    screened = [line["value"] for line in lines if line["event"] == "report"]
    final = [line["value"] for line in lines if line["event"] == "final"]
    opened = [report for report in (*screened, *final) if "open" in report["stages"]]
    assert len(opened) == 1, "one opening of the judge serves the search and its end"
    assert len(screened) <= 24
    judged = Counter((report["code_hash"], report["grade"]) for report in screened)
    assert max(judged.values()) <= 2, "equal code is judged once, or twice where it was noisy"
    again = {report["code_hash"] for report in final}  # one that was too noisy is timed twice
    assert len(again) <= 3, "the best three alone are measured again"
    page = tmp_path / "data" / "report.html"
    assert f"open {page} in a browser" in done.stdout
    assert f"{found.group(1)}x faster than the serial code" in page.read_text(encoding="utf-8")


@pytest.mark.nightly
def test_the_function_of_the_readme_is_well_posed_and_its_faster_version_right(
    environment: dict[str, str], tmp_path: Path
) -> None:
    """As typed, in an empty folder, up to the first command that needs a model."""
    block = re.search(r"^    cat > .*?(?=^    regraph optimize)", README, re.MULTILINE | re.DOTALL)
    assert block
    typed = "set -e\n" + re.sub(r"^    ", "", block[0], flags=re.MULTILINE)
    typed = re.sub(r"^regraph doctor.*\n", "", typed, flags=re.MULTILINE)
    done = subprocess.run(
        ["bash", "-c", typed],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "density: good" in done.stdout
    assert "density (openmp): passed" in done.stdout
    filled = run(environment, "regraph", "ingest", "--starter")
    assert filled.returncode == 0, filled.stderr
    lines = re.search(r"^    from pathlib .*?(?=^## )", README, re.MULTILINE | re.DOTALL)
    assert lines
    script = re.sub(r"^    ", "", lines[0], flags=re.MULTILINE)
    asked = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    stop_store(environment)
    assert asked.returncode == 0, asked.stderr
    assert "Outcome.PASSED" in asked.stdout or "passed" in asked.stdout
    assert re.search(r"\d+ of \d+", asked.stdout)


def test_the_readme_is_read_in_minutes() -> None:
    assert len(README.splitlines()) <= 90


def test_both_commands_of_the_readme_are_targets_of_the_makefile() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    named = re.findall(r"^    make (\w+)", README, re.MULTILINE)
    assert named == ["demo", "test"]
    assert [name for name in named if f"\n{name}:" not in makefile] == []


def test_the_version_is_the_packages(environment: dict[str, str]) -> None:
    done = run(environment, "regraph", "--version")
    assert (done.returncode, done.stdout) == (0, f"regraph {version('regraph-kg')}\n")


def test_every_file_the_readme_links_to_exists() -> None:
    links = re.findall(r"\]\(([^)#]+)\)", README)
    assert len(links) >= 8
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_the_tree_that_is_told_is_the_tree() -> None:
    text = (ROOT / "docs" / "dev" / "architecture.md").read_text(encoding="utf-8")
    tree = text.split("## The tree")[1].split("\n## ")[0]
    shown = re.findall(r"^    (\w+)/ ", tree, re.MULTILINE)
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    folders = {name.partition("/")[0] for name in listed.splitlines() if "/" in name}
    assert sorted(shown) == sorted(name for name in folders if name[0] != ".")


@pytest.mark.parametrize("missing", ["g++", "python3"])
def test_make_says_in_one_line_what_is_missing(missing: str, tmp_path: Path) -> None:
    """`make need` on a machine that has everything but one thing."""
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("bash", "sh", "env", "grep", "g++", "make"):
        if name != missing:
            (tools / name).symlink_to(shutil.which(name) or name)
    if missing != "python3":
        (tools / "python3").symlink_to(sys.executable)
    done = subprocess.run(
        ["make", "-s", "need"],
        cwd=ROOT,
        env={"PATH": str(tools)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    said = [line for line in (done.stdout + done.stderr).splitlines() if "regraph needs" in line]
    assert len(said) == 1
    assert ("g++" if missing == "g++" else "Python") in said[0]
