"""What the preprocessor makes of a file and its own headers: conditions decided, the rest as it is.

g++ runs over a copy with a mark behind each condition. Where no mark comes back from, there is no
code: blanks take its place and that of directives, so that offsets hold and braces match.
Not covered: names that only one target's compiler defines; a header that stands under two
conditions, of which the first does not hold.
"""

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from regraph_kg.adopt.probe import ran
from regraph_kg.cpp.functions import Build, CodeFile, parsed
from regraph_kg.cpp.slice import file_parts, whole_text
from regraph_kg.errors import BadInput
from regraph_kg.evaluation.compile.own_folder import own_folder
from regraph_kg.evaluation.compile.toolchain import find_gcc

_PARTS = re.compile(
    rb"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|(?m:^)[ \t]*#[ \t]*(?:"
    rb"(?P<if>(?:el)?if(?:n?def)?|else|endif)\b(?P<asked>(?:[^\n\\/]|\\\r?\n|[\\/])*)"
    rb"|include[ \t]*(?P<name>[<\"][^>\"\n]+[>\"])[^\n]*)",
    re.DOTALL,
)
_SWITCH = re.compile(rb"(?<!\w)[A-Za-z]\w*")  # names of a condition, but those of compilers
_UNASKING = (None, b"else", b"endif")
_UNASKED = re.compile(rb"//.*|/\*.*?\*/|__has_\w+\s*\([^)]*\)", re.DOTALL)
_DEFINED = re.compile(rb"(?m)^[ \t]*#[ \t]*define[ \t]+(\w+)(\([\w, \t]*\))?")
_UNDONE = re.compile(rb"(?m)^[ \t]*#[ \t]*undef[ \t]+(\w+)")
_GUARD = re.compile(rb"#[ \t]*ifndef[ \t]+(\w+)[^\n]*\n[ \t]*#[ \t]*define[ \t]+\1[ \t]*\r?\n")
_TEXT = b"\n#define REGRAPH_TEXT(...) #__VA_ARGS__\n#define REGRAPH_SAME(a) REGRAPH_TEXT(a)\n"
_IS = re.compile(rb'regraph_is\((\d+)\)\s*("(?:\\.|[^"\\])*")')
_ERROR = re.compile(r"(?m)^all\.cpp:(\d+):.*?error: (.*)")
_INK = re.compile(rb"\S")
_FLAG = re.compile(r"(-D|-U|-I|-iquote|-isystem)(.*)", re.DOTALL)


def preprocessed(source: CodeFile) -> tuple[CodeFile, CodeFile, tuple[str, ...]]:
    """The file alone, the file with its own headers in it, and the headers that are not here.

    Blanks take the place of what is left out. Raises `BadInput` where the preprocessor stops.
    """
    parts = file_parts(source)
    text = b"".join(own + header for own, _, header in parts)
    added = text.count(b"\n") - source.content.count(b"\n")
    said = _expanded(source.path, _marked(text), added)
    alive, absent = (
        set(map(int, re.findall(rb"regraph_%s_(\d+)" % k, said))) for k in (b"at", b"no")
    )
    missing = tuple(
        found["name"][1:-1].decode() for found in _directives(text) if found.start() in absent
    )
    asked = {name for found in _directives(source.bare) for name in _asked(found)}
    undefined = sorted(
        asked - {b"defined", b"NDEBUG", *(name for name, _ in _DEFINED.findall(text))}
    )
    if missing and undefined:
        raise BadInput(
            f"{source.path}: #if asks for {b', '.join(undefined[:5]).decode()}, which"
            f" {', '.join(missing[:5])} may define, and is not here: put the header into the"
            f" file's folder, or say it: --flags '-I FOLDER' or --flags -D{undefined[0].decode()}"
        )
    blank, own, at = _blanked(text, alive, absent), b"", 0
    for mine, line, header in parts:
        own += blank[at : at + len(mine)] + line
        at += len(mine) + len(header)
    whole = replace(parsed(source.path, blank), added=added)
    alone = replace(parsed(source.path, own, source.original), build=source.build)
    return alone, whole, missing


def build_of(text: str) -> tuple[Build, str, list[str]]:
    """What of flags decides how a file is read, that as text, and the rest. Raises `BadInput`."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise BadInput(f"--flags {text!r}: {error}; write it as for g++") from None
    folders, lines, kept, others = list[Path](), list[str](), list[str](), list[str]()
    while words:
        word = words.pop(0)
        found = _FLAG.fullmatch(word)
        if not found:
            if not word.startswith("-"):
                raise BadInput(f"--flags {text!r}: {word} is no flag; write it as for g++")
            others.append(word)
            continue
        value = found[2] or (words.pop(0) if words else "")
        if found[1] == "-D":
            name, _, meaning = value.partition("=")
            lines.append(f"#define {name} {meaning if '=' in value else 1}")
        elif found[1] == "-U":
            lines.append(f"#undef {value}")
        else:
            folders.append(Path(value).resolve())
            value = str(folders[-1])
            if not folders[-1].is_dir():
                raise BadInput(f"--flags {word}: there is no folder {value}")
        kept.append(shlex.quote(f"{found[1]}{value}"))
    told = "".join(f"{line}\n" for line in lines).encode()
    own = tuple(folder for folder in folders if not folder.is_relative_to("/usr"))
    return Build(own, told), " ".join(kept), others


def switches(source: CodeFile, spans: Sequence[tuple[int, int]]) -> dict[str, str]:
    """Macros that a build may set and these parts of the file rest on, and what they are in C++."""
    text, groups = whole_text(source), list[tuple[int, set[bytes]]]()
    names = {name for name, _ in _DEFINED.findall(source.build.lines)}
    for found in (one for one in _directives(text) if one["if"]):
        if found["if"].startswith(b"if"):
            groups.append((found.start(), set()))
        if groups:
            groups[-1][1].update(_asked(found))
        if groups and found["if"] == b"endif":
            start, asked = groups.pop()
            names |= asked if any(a < found.end() and start < b for a, b in spans) else set()
    names -= {b"defined", b"NDEBUG", *_GUARD.findall(text), *_UNDONE.findall(text)}
    given = {name: name + taken.replace(b" ", b"") for name, taken in _DEFINED.findall(text)}
    told = [given.get(name, name) for name in sorted(names)]
    lines = b"".join(b"regraph_is(%d)REGRAPH_SAME(%b)\n" % pair for pair in enumerate(told))
    said = _expanded(source.path, _marked(text) + _TEXT + lines, 0) if told else b""
    return {told[int(at)].decode(): value.decode() for at, value in _IS.findall(said)}


def _asked(condition: re.Match[bytes]) -> set[bytes]:
    """Names that a condition asks for."""
    is_asking = condition["if"] not in _UNASKING
    return set(_SWITCH.findall(_UNASKED.sub(b"", condition["asked"]))) if is_asking else set()


def _directives(text: bytes) -> Iterator[re.Match[bytes]]:
    """Conditions and `#include` lines."""
    return (found for found in _PARTS.finditer(text) if found["if"] or found["name"])


def _marked(text: bytes) -> bytes:
    """The text with a mark behind each condition."""
    parts, end, row = list[bytes](), 0, 2
    for found in _directives(text):
        name, start = found["name"], found.start()
        row += text.count(b"\n", end, found.end())
        line = b"#line %d" % row
        said = b"%s\nregraph_at_%d\n%s" % (found[0], start, line)
        if name:
            said = b"#if __has_include(%s)\n#include %s\n#else\n" % (name, name)
            said += b"regraph_no_%d\n#endif\n%s" % (start, line)
        parts += [text[end:start], said]
        end = found.end()
    return b"".join((*parts, text[end:]))


def _expanded(path: Path, text: bytes, added: int) -> bytes:
    """What the preprocessor leaves of a text."""
    gcc = find_gcc()
    command = (str(gcc.path), "-E", "-P", "-w", "-march=native", "-std=c++17", "all.cpp")
    with own_folder() as folder:
        work = folder / "work"
        work.mkdir()
        (work / "all.cpp").write_bytes(text)
        made = ran([(*command, "-o", "out")], folder, gcc)
        if made.code:
            error = _ERROR.search(made.said)
            where = f", line {max(1, int(error[1]) - added)}: {error[2][:200]}" if error else ""
            raise BadInput(
                f"{path}{where}: the preprocessor stops; say how it is built with --flags"
            )
        return (work / "out").read_bytes()


def _blanked(text: bytes, alive: set[int], absent: set[int]) -> bytes:
    """The text without what is left out, each line as long as before."""
    plain, begin, is_live = bytearray(text), 0, True
    for found in [*_directives(text), None]:
        start, end = found.span() if found else (len(text), len(text))
        if found and found["name"] and not (is_live and start in absent):
            continue
        first, last = (start, end) if is_live else (begin, end)
        plain[first:last] = _INK.sub(b" ", plain[first:last])
        if found and found["if"]:
            begin, is_live = end, start in alive
    return bytes(plain)
