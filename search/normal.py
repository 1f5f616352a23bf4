"""The tokens of C++ and CUDA code: what two spellings of one program have in common.

Not here: names, macros and meaning. A program that names its variables otherwise is another one.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

_SPLICE = re.compile(r"\\[ \t\f\v]*\n")
_STRINGIZES = re.compile(r"^[ \t]*(?:#|%:)[ \t]*define\b.*[^#\n]#[^#\n]", re.MULTILINE)

# What is not closed goes on to the end of its line (of the file, for comments and raw strings), so
# that hostile text takes no longer than other text.
_TOKEN = re.compile(
    r"""
      (?P<name>[^\W\d](?>[\w$]*)(?!["']))
    | (?P<space>[ \t\f\v]+)
    | (?P<newline>\n)
    | (?P<comment>//[^\n]*|/\*.*?(?:\*/|\Z))
    | (?P<text>
        (?:u8|[uUL])?R"(?P<fence>[^()\\\s]{0,16})\(.*?(?:\)(?P=fence)"\w*|\Z)
      | (?:u8|[uUL])?"(?:\\[^\n]|[^"\\\n])*(?:"\w*)?
      | (?:u8|[uUL])?'(?:\\[^\n]|[^'\\\n])*(?:'\w*)?
      )
    | (?P<number>\.?\d(?:[eEpP][+-]|'\w|[\w.])*)
    | (?P<prefix>[^\W\d][\w$]*)
    | (?P<mark><<<|>>>|<<=|>>=|<=>|->\*|\.\.\.|%:%:|<<|>>|<=|>=|==|!=|&&|\|\||\+\+|--|->|\.\*|::
        |[-+*/%&|^]=|\#\#|<%|%>|<:|:>|%:|.)
    """,
    re.VERBOSE | re.DOTALL,
)
_DIRECTIVE = frozenset({"#", "%:"})
_SPACED = frozenset({"define", "include", "include_next"})
"""Directives in which a blank may mean something: `#define f (x)` is not `#define f(x)`."""


@lru_cache(maxsize=512)
def normalized(code: str) -> str:
    """`code` as its tokens, one blank between two, a line for each directive, no comments.

    Equal results: the same program, which needs no second evaluation. Different results may still
    be the same program. Never fails, whatever `code` is.
    """
    text = code.replace("\r\n", "\n").replace("\r", "\n")
    if "__LINE__" in text or "??/" in text or ('R"' in text and _SPLICE.search(text)):
        return text  # the number of a line counts, or a backslash at its end is no continuation
    return "\n".join(" ".join(line) for line in token_lines(text))


def token_lines(code: str) -> list[list[str]]:
    """The tokens of `code`: those of each directive, and those of all lines between two of them.

    "#" comes with the directive's name ("#pragma"); a blank that may mean something is a token "".
    """
    text = _SPLICE.sub("", code)
    everywhere = _STRINGIZES.search(text) is not None
    lines: list[list[str]] = []
    program: list[str] = []
    for line in _physical_lines(text):
        tokens = [token for kind, token in line if kind != "space"]
        if tokens and tokens[0] in _DIRECTIVE:
            lines += [program] if program else []
            lines.append(_directive(line, tokens))
            program = []
        else:
            program += [*_spaced(line), ""] if everywhere else tokens
    return [*lines, program] if program else lines


def _directive(line: list[tuple[str, str]], tokens: list[str]) -> list[str]:
    name = tokens[1] if len(tokens) > 1 else ""
    rest = tokens[2:]
    if name in _SPACED:
        start = next(place for place, (_, token) in enumerate(line) if token == name)
        rest = _spaced(line[start + 1 :])
        rest = rest[1:] if rest[:1] == [""] else rest
    return [f"#{name}", *rest]


def _spaced(line: list[tuple[str, str]]) -> list[str]:
    """Tokens, with "" for each run of blanks between two."""
    return ["" if kind == "space" else token for kind, token in line]


def _physical_lines(text: str) -> Iterator[list[tuple[str, str]]]:
    """(kind, token) of each line; a comment is a blank, and ends no line."""
    line: list[tuple[str, str]] = []
    for found in _TOKEN.finditer(text):
        kind, token = found.lastgroup or "", found[0]
        if kind == "newline":
            yield _without_end(line)
            line = []
        elif kind not in ("space", "comment"):
            line.append((kind, token))
        elif line and line[-1][0] != "space":
            line.append(("space", " "))
    yield _without_end(line)


def _without_end(line: list[tuple[str, str]]) -> list[tuple[str, str]]:
    return line[:-1] if line and line[-1][0] == "space" else line
