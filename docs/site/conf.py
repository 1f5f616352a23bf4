"""The documents as one site: `make docs` builds it in build/docs; a link to nowhere ends it.

Not covered: links to the web. Pages are the files that `regraph docs` prints; what is put right on
the way into the site is said below, so that they read well in a checkout and in a terminal, too.
"""

import re
from pathlib import Path
from typing import get_type_hints

import nbformat

import regraph_kg

DOCS = Path(__file__).parents[1]

project = "regraph-kg"
extensions = ["myst_parser", "sphinx.ext.autodoc"]
root_doc = "package"
default_role = "literal"  # what docstrings put between backticks is code
autodoc_default_options = {
    "members": True,
    "undoc-members": True,
    "member-order": "bysource",
    "exclude-members": "__init__, __new__, model_config, model_post_init",  # pydantic's own
}
autodoc_class_signature = "separated"
autodoc_typehints_format = "short"
html_theme = "furo"
html_title = "regraph-kg"
source_suffix = {".md": "markdown", ".ipynb": "markdown"}
myst_heading_anchors = 4
suppress_warnings = ["toc.not_included"]  # decisions: their own page lists them

USE = (
    *("problems", "home", "models", "methods", "results", "cli", "settings", "python"),
    *("site/reference", "notebooks/what_follows", "notebooks/optimize_and_look", "agents"),
    "troubleshooting",
)
SHARE = ("ingest", "transforms", "curation", "embeddings", "browser")
TRUST = ("evaluation", "cheats", "SECURITY")
CHANGE = (
    *("dev/architecture", "dev/method", "dev/graph", "dev/modules", "dev/testing"),
    *("dev/decisions/README", "dev/LOG"),
)
CONTENTS = {
    "Use it": USE,
    "Share a graph": SHARE,
    "Trust a time": TRUST,
    "Change it": CHANGE,
}
_LINK = re.compile(r"\[([^\]]*)\]\((?!https?:|mailto:|#)([^)#\s]+)(#[^)\s]*)?\)")


def _contents() -> str:
    """The pages of the site, as its first page lists them."""
    return "".join(
        f"\n```{{toctree}}\n:caption: {title}\n:hidden:\n\n" + "\n".join(pages) + "\n```\n"
        for title, pages in CONTENTS.items()
    )


def _within(name: str, text: str) -> str:
    """A page's text with links that stay within the site; of the others, what they say."""
    folder = (DOCS / name).parent

    def link(found: re.Match[str]) -> str:
        said, target, anchor = found[1], (folder / found[2]).resolve(), found[3] or ""
        if not target.is_relative_to(DOCS):
            return said
        return f"[{said}](/{target.relative_to(DOCS)}{anchor})"

    return _LINK.sub(link, text)


def _page(notebook: str) -> str:
    """Its cells as a page; they are kept without what they show (`_repr_html_`)."""
    cells = nbformat.reads(notebook, as_version=4).cells
    return "\n\n".join(
        cell.source if cell.cell_type == "markdown" else f"```ipython3\n{cell.source}\n```"
        for cell in cells
    )


def _read(app: object, name: str, text: list[str]) -> None:
    if name.startswith("notebooks/"):
        text[0] = _page(text[0])
    text[0] = _within(name, text[0]) + (_contents() if name == root_doc else "")


def _show_plain_types() -> None:
    """In the reference a field has its type; what pydantic checks of it besides is left out."""
    for name in regraph_kg.__all__:
        value = getattr(regraph_kg, name)
        if isinstance(value, type) and "model_fields" in dir(value):
            plain = get_type_hints(value)
            value.__annotations__ = {own: plain[own] for own in value.__annotations__}


def setup(app: object) -> None:
    """Sphinx asks for this."""
    _show_plain_types()
    app.connect("source-read", _read)  # type: ignore[attr-defined]
