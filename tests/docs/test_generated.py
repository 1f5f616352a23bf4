"""What the documentation derives from the code is up to date."""

import difflib
import runpy
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_generated_documents_are_up_to_date() -> None:
    generated = runpy.run_path(str(ROOT / "docs" / "generate.py"))["generated"]()
    for path, text in generated.items():
        was = path.read_text(encoding="utf-8").splitlines()
        changes = list(difflib.unified_diff(was, text.rstrip().splitlines(), lineterm="", n=0))
        assert changes == [], f"{path.relative_to(ROOT)}: run python docs/generate.py"


def test_every_module_says_what_it_holds() -> None:
    modules = runpy.run_path(str(ROOT / "docs" / "generate.py"))["modules"]()
    assert [row for row in modules.splitlines() if row.endswith("|  |")] == []
