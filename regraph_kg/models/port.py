"""A port: a working program in three parts, of which a model sees and writes the middle one.

A CUDA port is made of the serial code (port/); a CPU port is the serial code, split around the
user's function at the code that `problem new` wrote.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

LAUNCH = "launch"  # the host function, on device pointers, that a model's part must define
_COMMENT = re.compile(r"//[^\n]*|/\*(?:[^*]|\*(?!/))*+(?:\*/)?")
_DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n\\]|\\.|\\\n)*", re.MULTILINE)
_BOUNDS = re.compile(r"__launch_bounds__\s*\([^()]*\)")
_LONGEST_HEAD = 4000  #: characters before a name, and of parameters: an answer may be anything
_END = re.compile(r"[;{}]")
_RETURN = re.compile(r"\b(?:return|else|do)\b")
_ON_DEVICE = re.compile(r"__(?:global|device)__")
_HEAD = re.compile(r'[\w\s:*&<>,="]*[\w*&>]\s*')
"""Text that may stand between the end of the code before and a function's name."""


@dataclass(frozen=True, slots=True)
class NotPorted:
    """Why serial code has no port, in one line."""

    why: str


@dataclass(frozen=True, slots=True)
class Port:
    """A program in three parts, of which the model writes the middle one."""

    entry: str  # the function that callers know; `tail` defines it
    head: str  # headers
    start: str  #: what a model gets and rewrites: kernels and `launch`, or the user's function
    tail: str  #: the entry: passes arguments on, calls the function, returns results
    signature: str  # signature of the function that the model's part must define, without a body
    function: str = LAUNCH  # its name
    types: tuple[tuple[str, str], ...] = ()
    """Structs that `tail` needs, by name: their definitions, which also stand in `start`."""
    parallel: bool = False  #: whether several kernels or threads work; otherwise one thread does

    def whole(self, part: str) -> str:
        """The file that is compiled. A part that defines the entry is such a file already."""
        on_device = [bool(_ON_DEVICE.search(head)) for head in _heads(part, self.entry)]
        if not all(on_device):
            return part
        if on_device:  # a kernel, or another function of the device; C++ knows the name once
            part = re.sub(rf"\b{self.entry}\b", f"{self.entry}_kernel", part)
        left_out = [text for name, text in self.types if not _defines_type(part, name)]
        return "\n".join((self.head, *left_out, part.strip() + "\n", self.tail))

    def part(self, file: str) -> str:
        """The model's part of a file of `whole`; all of any other file."""
        first, last = f"{self.head}\n", f"\n{self.tail}"
        if not file.startswith(first) or not file.endswith(last):
            return file
        return file[len(first) : -len(last)]


def _bare(code: str) -> str:
    """Code without comments, directives and launch bounds."""
    return _BOUNDS.sub(" ", _DIRECTIVE.sub(" ", _COMMENT.sub(" ", code)))


def _heads(code: str, name: str) -> Iterator[str]:
    """The text before the name, at each definition of such a function."""
    bare = _bare(code)
    for match in re.finditer(rf"\b{re.escape(name)}\s*\(", bare):
        first, at = max(0, match.start() - _LONGEST_HEAD), match.end()
        start = max(first - 1, *(bare.rfind(sign, first, match.start()) for sign in ";{}")) + 1
        end = _END.search(bare, at, at + _LONGEST_HEAD)
        if end is None or end[0] != "{" or not bare[at : end.start()].rstrip().endswith(")"):
            continue
        head = bare[start : match.start()]
        if _HEAD.fullmatch(head) and not _RETURN.search(head):
            yield head


def _defines_type(code: str, name: str) -> bool:
    pattern = rf"\b(?:struct|class|using)\s+{re.escape(name)}\b[^;({{=]{{0,200}}[{{=]"
    return bool(re.search(pattern, _bare(code)))
