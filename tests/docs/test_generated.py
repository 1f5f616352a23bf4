"""What the documentation derives from the code is up to date."""

import runpy
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_generated_documents_are_up_to_date() -> None:
    generated = runpy.run_path(str(ROOT / "docs" / "generate.py"))["generated"]()
    stale = [
        str(path.relative_to(ROOT))
        for path, text in generated.items()
        if path.read_text(encoding="utf-8") != text.rstrip() + "\n"
    ]
    assert stale == [], "run: python docs/generate.py"


def test_every_module_says_what_it_holds() -> None:
    modules = runpy.run_path(str(ROOT / "docs" / "generate.py"))["modules"]()
    assert [row for row in modules.splitlines() if row.endswith("|  |")] == []
