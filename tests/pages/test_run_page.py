"""The page of runs as text: what stands in it, and what never can."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from regraph_kg.models.evaluation import Candidate
from regraph_kg.pages.render import as_data, runs_page
from regraph_kg.runs.run_page import view_runs
from regraph_kg.search.trace import Trace
from regraph_kg.settings import Settings, read_settings
from tests.pages.traces import HOSTILE, hostile, record, searched, step
from tests.search.recorded_run import still, toy
from tests.search.toy import SEAL, header


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Settings of an installation whose key is that of the toy world's traces."""
    key = tmp_path / "data" / "trace-key"
    key.parent.mkdir()
    key.write_bytes(SEAL)
    key.chmod(0o600)
    monkeypatch.setenv("REGRAPH_DATA_DIR", str(key.parent))
    return read_settings()


class Elements(HTMLParser):
    """The elements of a page and their attributes; what scripts hold is no element."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def shape(page: str) -> list[tuple[str, str]]:
    """Elements that can do anything, and attributes that run or fetch."""
    elements = Elements(page).found
    does = [
        (tag, "") for tag, _ in elements if tag in {"script", "img", "iframe", "object", "link"}
    ]
    runs = [(tag, name) for tag, told in elements for name in told if name.startswith("on")]
    return does + runs + [(tag, name) for tag, told in elements for name in told if name == "src"]


def test_a_run_is_told_with_its_answer_and_how_to_do_it_again(
    settings: Settings, tmp_path: Path
) -> None:
    path, run = searched(tmp_path)
    page = runs_page(view_runs(settings, [path]))
    assert f"{run.summary.speedup:.3g}x faster than the serial code" in page
    assert "regraph optimize toy --target openmp --method mcgs --budget 25 --set run.seed=0" in page
    assert "wrong" in page


def test_nothing_that_others_wrote_becomes_markup(settings: Settings, tmp_path: Path) -> None:
    plain, _ = searched(tmp_path / "plain")
    harmless = runs_page(view_runs(settings, [plain]))
    page = runs_page(view_runs(settings, [hostile(tmp_path / "hostile")]))
    assert shape(page) == shape(harmless)
    assert "<script>document.body" not in page
    assert not re.search("[\u2028\u2029\u202e\0]", page)
    assert page.count("<!--") == 0
    assert "document.body.dataset.hit" in page  # it is there, as text


def test_data_in_a_script_block_is_the_same_and_ends_nothing() -> None:
    text = as_data({"code": HOSTILE, "speedup": float("nan")})
    assert not set(text) & set("<>&\u2028\0")
    kept = "".join(one for one in HOSTILE if one.isprintable())
    assert json.loads(text) == {"code": kept, "speedup": None}


def test_runs_stand_side_by_side_once_each(settings: Settings, tmp_path: Path) -> None:
    one, _ = searched(tmp_path / "one")
    other = hostile(tmp_path / "other")
    page = runs_page(view_runs(settings, [one, other, one]))
    assert "2 runs side by side" in page
    assert page.count("<article") == 2


def test_a_page_lets_nothing_run_but_its_own_scripts(settings: Settings, tmp_path: Path) -> None:
    path, _ = searched(tmp_path)
    views = view_runs(settings, [path])
    policy = re.search(r'Security-Policy" content="([^"]*)"', runs_page(views))
    assert policy is not None
    assert policy[1].startswith("default-src &#39;none&#39;; script-src &#39;sha256-")
    assert "unsafe" not in policy[1]
    assert "connect-src &#39;none&#39;" in policy[1]


def test_a_run_that_did_not_end_is_shown_as_far_as_it_went(
    settings: Settings, tmp_path: Path
) -> None:
    path, _ = searched(tmp_path)
    cut = tmp_path / "cut.jsonl"
    cut.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    (view,) = view_runs(settings, [cut])
    assert view.state == "not finished"
    assert view.headline.endswith("so far, not yet measured again")
    assert any("--resume goes on with it" in note for note in view.notes)
    assert any("incomplete" in note for note in view.notes)


def test_a_strangers_figures_are_called_claims(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REGRAPH_DATA_DIR", str(tmp_path / "new"))
    path, _ = searched(tmp_path)
    (view,) = view_runs(read_settings(), [path])
    assert any("the figures are what it claims" in note for note in view.notes)


def test_prompts_are_shown(settings: Settings, tmp_path: Path) -> None:
    path, run = searched(tmp_path)
    (view,) = view_runs(settings, [path])
    asked = [turn.prompt for node in view.nodes[1:] for turn in node.turns]
    assert len(asked) >= run.summary.cost.calls
    assert all("Current code:" in one for one in asked)
    assert view.system


def test_what_was_not_surely_faster_in_the_end_is_no_answer(
    settings: Settings, tmp_path: Path
) -> None:
    code = "x=0.02 "  # 1.02 times as fast, by an interval that holds 1
    with Trace.create(tmp_path, header(budget=1), SEAL, still) as trace:
        trace.record(record(0, step(0, 1.02, code)))
        trace.world(toy().world).evaluate_final(Candidate("openmp", code))
        trace.stop("verdicts")
    (view,) = view_runs(settings, [trace.path])
    assert view.headline == "toy (openmp): no improvement found; the serial code is the answer"
    assert (view.speedup, view.interval, view.path) == (None, "", "")
    assert [dot.speedup for dot in view.bests] == [1.02]
