"""The pack as files: what the command writes, and what the document says of it."""

import re
import zipfile
from pathlib import Path

from tests.browser.server import packed

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "cypher" / "browser"
DOCUMENT = ROOT / "docs" / "browser.md"
MOST = 200_000  # bytes of a picture


def test_the_pack_holds_every_saved_query_under_one_folder(tmp_path: Path) -> None:
    archive, _ = packed(tmp_path)
    with zipfile.ZipFile(archive) as whole:
        files = [name for name in whole.namelist() if not name.endswith("/")]
        assert {name: whole.read(name) for name in files} == {
            f"regraph/{path.name}": path.read_bytes() for path in FOLDER.glob("*.cypher")
        }


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
