"""The documents as one site: `make docs` builds it in build/docs; a link to nowhere ends it.

Not covered: links to the web. Pages are the files that `regraph docs` prints; what is put right on
the way into the site is said below, so that they read well in a checkout and in a terminal, too.
"""

import re
from pathlib import Path

DOCS = Path(__file__).parents[1]

project = "regraph-kg"
extensions = ["myst_parser"]
root_doc = "package"
exclude_patterns = ["site"]
html_theme = "furo"
html_title = "regraph-kg"
myst_heading_anchors = 4
suppress_warnings = ["toc.not_included"]  # decisions: their own page lists them

USE = (
    *(
        "problems",
        "own-commands",
        "home",
        "report",
        "models",
        "methods",
        "prompts",
        "cli",
        "settings",
    ),
    *("models-by-file", "workers", "python", "agents", "agents-session", "troubleshooting"),
)
SHARE = (
    *("backup", "ingest", "collect", "ownership", "corpus", "relabelling", "curation", "learning"),
    *("embeddings", "browser"),
)
TRUST = ("evaluation", "SECURITY", "benchmarks")
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
    """A page's text with links that stay within the site; of the others, what they say.

    SECURITY.md lies at the root of a checkout: its links begin there.
    """
    folder = DOCS.parent if name == "SECURITY" else (DOCS / name).parent

    def link(found: re.Match[str]) -> str:
        said, target, anchor = found[1], (folder / found[2]).resolve(), found[3] or ""
        if target == DOCS.parent / "SECURITY.md":  # a link in docs/ leads there
            return f"{{doc}}`{said.replace('`', '')} </SECURITY>`"
        if not target.is_relative_to(DOCS):
            return said
        return f"[{said}](/{target.relative_to(DOCS)}{anchor})"

    return _LINK.sub(link, text)


def _read(app: object, name: str, text: list[str]) -> None:
    text[0] = _within(name, text[0]) + (_contents() if name == root_doc else "")


def setup(app: object) -> None:
    """Sphinx asks for this."""
    app.connect("source-read", _read)  # type: ignore[attr-defined]
