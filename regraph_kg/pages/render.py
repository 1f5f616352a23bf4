"""The text of a page, and the values that stand on it.

Text of others (a model, a candidate, a compiler) gets into a page in two ways: as text that
the template escapes, and within JSON in a block that no browser runs, in which `<` is written as an
escape, so that nothing there ends the block. Scripts take it from there as text only. The page's
policy lets nothing run but its own scripts, named by their hashes, and nothing be fetched.
"""

import base64
import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from jinja2.utils import htmlsafe_json_dumps
from markupsafe import Markup

from regraph_kg.models.text import plain, seconds, times

LONGEST_TEXT = 60_000  # characters of one text; the rest of a longer one is left out


@dataclass(frozen=True, slots=True)
class Exchange:
    """One call of the model for a step: prompt ("" where it is not known) and answer."""

    prompt: str
    answer: str


@dataclass(slots=True)
class Node:
    """A step in the tree and in the plots of a search. The first one, 0, is the serial code."""

    id: int
    parent: int | None
    name: str  # the technique's name, with the number of a later sample
    ended: str  # the outcome in a word or two
    speedup: float | None = None  # none: it failed
    gain: float | None = None  # gain over the code before
    call: int = 0
    at: float = 0.0
    best: bool = False  # whether it was faster than all before it
    answer: bool = False  # whether it is on the way to the answer, or to the best so far
    facts: dict[str, str] = field(default_factory=dict)  # other facts by name
    diagnosis: str = ""
    code: str = ""
    diff: str = ""  # diff to the code before
    turns: tuple[Exchange, ...] = ()


@dataclass(frozen=True, slots=True)
class FailureRow:
    count: int
    ended: str
    diagnosis: str
    technique: str


@dataclass(frozen=True, slots=True)
class RunView:
    title: str
    file: str
    state: str
    headline: str
    speedup: float | None  # the answer's final speedup, else the best screened one; None: none
    interval: str
    roofline: str
    share: float | None  # share of what the device allows, 0 to 1
    path: str
    code: str
    notes: tuple[str, ...]
    rows: Mapping[str, str]  # method and costs
    machine: Mapping[str, str]
    failures: tuple[FailureRow, ...]  # the most frequent first
    nodes: tuple[Node, ...]
    commands: tuple[str, ...]  # commands that repeat the run
    system: str  # the system prompt; "" where it is not known
    settings: Mapping[str, str]

    @property
    def bests(self) -> list[Node]:
        """Each new best, in the order in which they were found."""
        return sorted((node for node in self.nodes if node.best), key=lambda node: node.call)


def runs_page(runs: Sequence[RunView]) -> str:
    """One page of these runs, side by side where they are several."""
    # the scripts draw the steps; all else stands in the page as text
    drawn = [{"title": run.title, "nodes": list(map(asdict, run.nodes))} for run in runs]
    scripts, style = [_asset("d3.min.js"), _asset("runs.js")], _asset("page.css")
    # the content security policy: a script that got in by a fault of ours would not run
    policy = (
        f"default-src 'none'; script-src {' '.join(map(_hash, scripts))}; style-src {_hash(style)};"
        " img-src data:; connect-src 'none'; base-uri 'none'; form-action 'none'"
    )
    return (
        _environment()
        .get_template("runs.html")
        .render(
            runs=runs,
            data=as_data(drawn),
            scripts=list(map(Markup, scripts)),
            style=Markup(style),
            policy=policy,
        )
    )


def as_data(value: Any) -> Markup:
    """JSON for a script block: no character of it means anything to HTML."""
    return htmlsafe_json_dumps(
        _plain(value), ensure_ascii=False, allow_nan=False, separators=(",", ":")
    )


def _plain(value: Any) -> Any:
    """A value with plain texts of bounded length, and None for NaN and infinities."""
    if isinstance(value, Markup):
        return value
    if isinstance(value, str):
        # a stranger's trace may hold whole books
        return plain(value[:LONGEST_TEXT])
    if isinstance(value, float):
        # JSON knows neither
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {_plain(name): _plain(item) for name, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


@cache
def _asset(name: str) -> str:
    return files(__package__).joinpath("assets", name).read_text(encoding="utf-8")


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader(__package__, "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        # whatever a template writes is plain text, too
        finalize=_plain,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"times": times, "seconds": seconds}
    return environment
