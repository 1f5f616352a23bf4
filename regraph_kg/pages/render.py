"""The text of a page from its values.

Text of others (a model, a candidate, a compiler) gets into a page in two ways: as text that
the template escapes, and within JSON in a block that no browser runs, in which `<` is written as an
escape, so that nothing there ends the block. Scripts take it from there as text only. The page's
policy lets nothing run but its own scripts, named by their hashes, and nothing be fetched.
"""

import base64
import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from regraph_kg.models.text import plain, seconds, times
from regraph_kg.pages.views import GraphView, RunView

_ESCAPES = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}


def runs_page(runs: Sequence[RunView], *, live: bool = False) -> str:
    """One page of these runs, side by side where they are several."""
    data = as_data([asdict(run) for run in runs])
    values = {"runs": runs, "live": live, "data": Markup(data)}
    return _page("runs.html", values, ["d3.min.js", "runs.js"], live=live)


def graph_page(graph: GraphView) -> str:
    """One page of a graph."""
    return _page("graph.html", {"graph": graph, "live": False}, [])


def bench_page(sections: Sequence[Any]) -> str:
    """One page of bench results, as tables (regraph_kg/bench/tables.py)."""
    return _page("bench.html", {"sections": sections, "live": False}, [])


def _page(
    name: str, values: Mapping[str, Any], assets: Sequence[str], *, live: bool = False
) -> str:
    scripts = list(map(_asset, assets))
    style = _asset("page.css")
    template = _environment().get_template(name)
    return template.render(
        **values,
        scripts=[Markup(script) for script in scripts],
        style=Markup(style),
        policy=_policy(scripts, style, live=live),
    )


def as_data(value: Any) -> str:
    """JSON for a script block: no character of it means anything to HTML."""
    text = json.dumps(_plain(value), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character, escape in _ESCAPES.items():
        text = text.replace(character, escape)
    return text


def _plain(value: Any) -> Any:
    """A value with plain texts, and None for NaN and infinities."""
    if isinstance(value, str):
        return plain(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {_plain(name): _plain(item) for name, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value


def _finalized(value: Any) -> Any:
    """A value as a template writes it: plain text; markup stays as it is."""
    return plain(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _policy(scripts: Sequence[str], style: str, *, live: bool) -> str:
    """The page's content security policy."""
    hashes = " ".join(map(_hash, scripts)) or "'none'"
    connect = "'self'" if live else "'none'"
    return (
        f"default-src 'none'; script-src {hashes}; style-src {_hash(style)}; img-src data:;"
        f" connect-src {connect}; base-uri 'none'; form-action 'none'"
    )


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
        finalize=_finalized,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"times": times, "seconds": seconds}
    return environment
