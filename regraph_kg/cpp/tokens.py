"""The tokens of C++ and CUDA code, which different spellings of one program share.

Not here: names, macros and meaning. A program with other names is another program, and two ways to
write one computation may have little in common.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

_SPLICE = re.compile(r"\\[ \t\f\v]*\n")
_STRINGIZES = re.compile(r"^[ \t]*(?:#|%:)[ \t]*define\b.*[^#\n]#[^#\n]", re.MULTILINE)

# What is not closed goes on to the end of its line (of the file, for comments and raw strings), and
# no run of blanks is looked at from each of its places, so that hostile text takes no longer than
# other text.
_FREQUENT = r"""[^\W\d](?>[\w$]*)(?!["'])|[;,(){}\[\]~?]|\d++(?![\w.'])"""
_SPACE = r"[ \t\f\v]++"
_COMMENT = r"//[^\n]*+|/\*(?s:.*?)(?:\*/|\Z)"
_RAW = r"""(?:u8|[uUL])?R"(?P<FENCE>[^()\\\s]{0,16})\((?s:.*?)(?:\)(?P=FENCE)"\w*|\Z)"""
_OTHER = r"""
    (?:u8|[uUL])?"(?:\\[^\n]|[^"\\\n])*(?:"\w*)?
  | (?:u8|[uUL])?'(?:\\[^\n]|[^'\\\n])*(?:'\w*)?
  | \.?\d(?:[eEpP][+-]|'\w|[\w.])*
  | [^\W\d][\w$]*
  | <<<|>>>|<<=|>>=|<=>|->\*|\.\.\.|%:%:|<<|>>|<=|>=|==|!=|&&|\|\||\+\+|--|->|\.\*|::
  | [-+*/%&|^]=|\#\#|<%|%>|<:|:>|%:|[^\n]
"""
_LINE_ENDS = rf"\n(?:[ \t\f\v\n]++|{_COMMENT})*+"
_HASH = r"(?:\#(?!\#)|%:(?!%:))"


def _pattern(raw: str) -> re.Pattern[str]:
    """The pattern of a token and the blanks before it; a directive and its line ends are one token.

    `raw` matches raw strings; a text without any needs a simpler pattern.
    """
    inside, here = raw.replace("FENCE", "inside"), raw.replace("FENCE", "here")
    directive = rf"{_LINE_ENDS}{_HASH}(?:{_SPACE}|{_COMMENT}|{_FREQUENT}|{inside}{_OTHER})*+"
    blanks = rf"\ ?+(?:{_SPACE}|{_COMMENT}|{_LINE_ENDS}(?!{_HASH}))*+"
    return re.compile(rf"{blanks}({_FREQUENT}|{here}{_OTHER}|{directive}|\Z)", re.VERBOSE)


_TOKENS, _TOKENS_OR_RAW = _pattern(""), _pattern(f"{_RAW}|")
_IN_LINE = re.compile(
    rf"(?P<newline>\n)|(?P<space>{_SPACE})|(?P<comment>{_COMMENT})"
    rf"|(?P<token>{_FREQUENT}|{_RAW}|{_OTHER})",
    re.VERBOSE,
)
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
    text = _SPLICE.sub("", text)
    if _STRINGIZES.search(text):
        return text  # blanks may count
    return "\n".join(" ".join(line) for line in _lines(_tokens(text)))


def _tokens(text: str) -> list[str]:
    """Tokens, and each directive whole, with the line ends before it."""
    text = "\n" + text
    if 'R"' in text:
        tokens = [match[1] for match in _TOKENS_OR_RAW.finditer(text)]
    else:
        tokens = _TOKENS.findall(text)
    while tokens and not tokens[-1]:  # the end of the text
        tokens.pop()
    return tokens


def _lines(tokens: list[str]) -> Iterator[list[str]]:
    """Lists of tokens: one for each directive, and one for all lines between two directives."""
    begin = 0
    for place in [place for place, token in enumerate(tokens) if token[0] == "\n"]:
        if begin < place:
            yield tokens[begin:place]
        yield _directive(tokens[place])
        begin = place + 1
    if begin < len(tokens):
        yield tokens[begin:]


def _directive(text: str) -> list[str]:
    """The tokens of a directive behind line ends, "#" joined to its name.

    A blank that may mean something is a token ""; a comment is a blank, not a line end.
    """
    line: list[str] = []
    for match in _IN_LINE.finditer(text):
        if match.lastgroup == "newline":
            line = []
        elif match.lastgroup == "token":
            line.append(match[0])
        elif line and line[-1]:
            line.append("")
    line = line[:-1] if not line[-1] else line
    _, *names = filter(None, line)
    name = names[0] if names else ""
    arguments = names[1:]
    if name in _SPACED:
        arguments = line[line.index(name) + 1 :]
        arguments = arguments[1:] if arguments[:1] == [""] else arguments
    return [f"#{name}", *arguments]
