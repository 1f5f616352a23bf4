"""The pack as files: what the command writes, and what the document says of it."""

import re
import zipfile
from pathlib import Path

from tests.in_process import Ended, typed

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "cypher" / "browser"
DOCUMENT = ROOT / "docs" / "browser.md"
MOST = 200_000  # bytes of a picture


def run(folder: Path) -> Ended:
    return typed("graph", "browser-pack", folder)


def test_the_pack_holds_every_saved_query_and_the_style(tmp_path: Path) -> None:
    code, out, _ = run(tmp_path / "new" / "pack")
    assert code == 0
    archive, style = sorted((tmp_path / "new" / "pack").iterdir())
    assert str(archive) in out
    assert str(style) in out
    with zipfile.ZipFile(archive) as packed:
        assert {name: packed.read(name) for name in packed.namelist()} == {
            f"regraph/{path.name}": path.read_bytes() for path in FOLDER.glob("*.cypher")
        }
    assert style.read_bytes() == (FOLDER / "style.grass").read_bytes()


def test_the_pack_is_the_same_every_time(tmp_path: Path) -> None:
    for name in "ab":
        assert run(tmp_path / name)[0] == 0
    for file in (tmp_path / "a").iterdir():
        assert file.read_bytes() == (tmp_path / "b" / file.name).read_bytes()


def test_a_file_is_no_folder_to_write_into(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("mine")
    code, _, err = run(file)
    assert code == 2
    assert len(err.splitlines()) == 1
    assert str(file) in err
    assert "give a folder" in err
    assert file.read_text() == "mine"


def test_the_style_is_what_the_browser_s_parser_keeps() -> None:
    """It splits at colons and semicolons, whatever is in quotes."""
    style = (FOLDER / "style.grass").read_text()
    for rule in re.findall(r"\{\n(.*?)\n\}", style, re.DOTALL):
        for line in rule.split("\n"):
            assert re.fullmatch(r"  [\w-]+: [^:;]+;", line)
    for label in ("node.Technique", "relationship.TRANSITION", "relationship.NEXT"):
        assert f"{label} {{" in style


def test_the_document_tells_of_every_query_and_its_pictures_are_small() -> None:
    document = DOCUMENT.read_text()
    for path in FOLDER.glob("*.cypher"):
        assert path.read_text().splitlines()[0].removeprefix("// ") in document
    named = re.findall(r"\(images/(browser-[\w-]+\.png)\)", document)
    kept = [path.name for path in (ROOT / "docs" / "images").glob("browser-*.png")]
    assert sorted(named) == sorted(kept)
    for name in named:
        assert (ROOT / "docs" / "images" / name).stat().st_size < MOST
