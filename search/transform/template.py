"""Templates and conditions: Jinja in a sandbox that lends the words of words.py and little else.

What a stranger's template costs is no matter here: apart.py ends it.
"""

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

from jinja2 import StrictUndefined, Template
from jinja2.environment import TemplateExpression
from jinja2.runtime import Macro
from jinja2.sandbox import ImmutableSandboxedEnvironment

from regraph_kg.cpp.edits import Edits
from regraph_kg.cpp.syntax import text
from regraph_kg.search.transform import words
from regraph_kg.search.transform.lanes import laned
from regraph_kg.search.transform.pattern import METAVARIABLE, Pattern, filled
from regraph_kg.search.transform.piece import steps
from regraph_kg.search.transform.words import edited, root_of, uses

_BLOCK = r"""\{#.*?#\}|\{[{%](?:"[^"]*"|'[^']*'|[^"'])*?[}%]\}"""
_NAME_OR_BLOCK = re.compile(f"{METAVARIABLE.pattern}|{_BLOCK}", re.DOTALL)
_FILTERS = (
    *(words.always, words.called_with, words.calls, words.changed, words.copy, words.count),
    *(words.declared, words.doubles, words.enclosed, words.indexed, words.jammed, laned),
    *(words.matches, words.names, words.pointed, words.pure, words.separated, words.slipped),
    *(words.substituted, words.variables, words.varying),
)
_JINJA = (
    *("first", "int", "join", "last", "length", "list", "map", "reject", "rejectattr", "replace"),
    *("select", "selectattr", "string", "unique"),
)


class Language(ImmutableSandboxedEnvironment):
    """Jinja that reads attributes and uses words; it has no loader, so that nothing is included."""

    def __init__(self) -> None:
        """With the words that transforms use."""
        super().__init__(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
        kept = {name: self.filters[name] for name in _JINJA}
        own: dict[str, Callable[..., Any]] = {word.__name__: word for word in _FILTERS}
        self.filters = kept | own | {"rewritten": self.rewritten, "split": str.split}
        self.tests |= {"uses": uses, "has": words.has, "steps": steps}
        called = (words.leave, words.no_fit, words.plus, words.times)
        self.globals = {word.__name__: word for word in called} | {"range": range}

    def is_safe_callable(self, obj: Any) -> bool:
        """Only words of this package, ranges and a template's own macros are called."""
        own = str(getattr(obj, "__module__", "")).startswith("regraph_kg.search.transform")
        return own or obj is range or isinstance(obj, Macro)

    @lru_cache(maxsize=1024)  # noqa: B019 (there is one, for as long as the program runs)
    def template(self, written: str) -> Template:
        """A template, in which `$x` is what the name holds; TemplateSyntaxError for no template."""
        text = _NAME_OR_BLOCK.sub(
            lambda it: f"{{{{ {it[1] or it[2]} }}}}" if it[1] or it[2] else it[0], written
        )
        return self.from_string(text)

    @lru_cache(maxsize=1024)  # noqa: B019
    def condition(self, written: str) -> TemplateExpression:
        """A condition; TemplateSyntaxError if it cannot be read."""
        return self.compile_expression(written)

    def rewritten(
        self, code: str, pattern: str, template: str, using: Iterable[str] = (), **values: object
    ) -> str:
        """The code with parts that match replaced by a template; those that use a name alone."""
        edits, becomes = Edits(), self.template(template)
        for part, bound in Pattern.of(filled(pattern, values)).places(root_of(code)):
            held = {name: inner.text for name, inner in bound.items()}
            if not using or uses(text(part.nodes[0]), using):
                edits.put(part.nodes[0], becomes.render(values | held))
        return edited(code, edits)
