"""A transform: one step of a technique as data, and the codes it makes of a code.

Its file is described in docs/transforms.md. Conditions and templates have the words of words.py,
and loops and kernels have facts. One of a stranger's graph is carried out apart (apart.py).
"""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import islice, product
from pathlib import Path
from typing import Annotated

from jinja2 import TemplateError
from pydantic import Field, ValidationError
from tree_sitter import Node

from regraph_kg.cpp.edits import Edits
from regraph_kg.cpp.functions import Function
from regraph_kg.cpp.inline import with_bodies
from regraph_kg.cpp.plain import plain
from regraph_kg.cpp.syntax import LOOPS, inside_of, walk
from regraph_kg.models.base import Frozen
from regraph_kg.search.transform.pattern import Bound, Pattern, Place, is_lone
from regraph_kg.search.transform.piece import Code, Piece
from regraph_kg.search.transform.template import Language
from regraph_kg.search.transform.words import LeftError, NoFitError

MOST_PLACES, MOST_CHOICES = 32, 8  # of one transform in one code
LONGEST = 200_000  # characters of a template's text
_LANGUAGE = Language()
_HEADER = r'^(<[\w./+-]+>|"[\w./+-]+")$'  # what stands behind #include
_PRAGMA = r'^(#pragma GCC optimize\("[\w-]+"(, "[\w-]+")*\))?$'
_OPENS, _CLOSES = re.compile(r"[{(\[]"), re.compile(r"[})\]]")
_QUOTED = re.compile(r"//.*|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'")


class Rewrite(Frozen):
    """What is replaced by what."""

    match: str | tuple[str, ...]  # several: each of them is tried
    becomes: str
    where: tuple[str, ...] = ()

    def patterns(self) -> list[Pattern]:
        """Its patterns; PatternError for one that is no C++."""
        return list(map(Pattern.of, [self.match] if isinstance(self.match, str) else self.match))

    def places(self, root: Node, given: Bound) -> Iterator[Place]:
        """The places below a node that match, where names that are given hold what they do."""
        for pattern in self.patterns():
            yield from pattern.places(root, given)


class Inside(Rewrite):
    """What is replaced within a metavariable, wherever it fits."""

    of: str


class Transform(Rewrite):
    """A transform as its file has it."""

    technique: str
    name: str
    says: str
    parameters: dict[str, tuple[int | str, ...]] = Field(default_factory=dict)
    before: str = ""
    top: Annotated[str, Field(pattern=_PRAGMA)] = ""  # what stands before all else, once
    includes: tuple[Annotated[str, Field(pattern=_HEADER)], ...] = ()
    also: tuple[Rewrite, ...] = ()
    everywhere: bool = False  # whether one step takes all places where it fits: directives
    inside: tuple[Inside, ...] = ()

    @classmethod
    def of(cls, written: str) -> "Transform":
        """Read a transform; ValueError in one line if a part of it cannot be read."""
        try:
            transform = cls.model_validate(tomllib.loads(written))
            for rewrite in (transform, *transform.also, *transform.inside):
                rewrite.patterns()
                _LANGUAGE.template(rewrite.becomes)
                for condition in rewrite.where:
                    _LANGUAGE.condition(condition)
            _LANGUAGE.template(transform.before)
        except ValidationError as error:
            first = error.errors()[0]
            raise ValueError(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from None
        except (ValueError, TemplateError, SyntaxError, RecursionError) as error:
            raise ValueError(" ".join(str(error).split())) from None
        return transform

    def choices(self) -> Iterator[dict[str, int | str]]:
        """Values of all parameters, the defaults first."""
        for values in product(*self.parameters.values()):
            yield dict(zip(self.parameters, values, strict=True))


def shipped(path: Path) -> Iterator[tuple[Transform, str]]:
    """The transforms of a file, with their texts: its first line may name several techniques.

    ValueError, with the file's name, for one that cannot be read.
    """
    first, _, rest = path.read_text(encoding="utf-8").partition("\n")
    for technique in re.findall('"([^"]*)"', first):
        text = f'technique = "{technique}"\n{rest}'
        try:
            yield Transform.of(text), text
        except ValueError as error:
            raise ValueError(f"{path.name}: {error}") from None


def carried_out(transform: Transform, code: str) -> Iterator[tuple[int, str]]:
    """The codes after the step: for each place where it fits, with each choice of parameters.

    With each comes its choice's number, 0 for the defaults. Loops and variables are in their plain
    form there (cpp/plain.py). Where it fits nowhere, helpers' loops stand where they are called.
    Nothing for a code with errors.
    """
    made = False
    for read in forms(code):
        if made or not read.tree.complete:
            return
        places = [[place] for place in islice(transform.places(read.tree.root, {}), MOST_PLACES)]
        if transform.everywhere:
            found = [place for [place] in places if _made(transform, read, [place], {}) is not None]
            places = [found, *places]
        for together in filter(None, places):
            for number, choice in enumerate(islice(transform.choices(), MOST_CHOICES)):
                new = _made(transform, read, together, choice)
                if new is None:
                    break  # conditions on parameters stand in `where` of their own transform
                made = True
                yield number, new


@lru_cache(maxsize=4)
def forms(code: str) -> list[Code]:
    """A code as patterns see it, which see one function: as it is, and with loops of helpers."""
    helped = code if "__global__" in code else with_bodies(code, _is_loop_in_loop)
    return [Code(plain(form)) for form in dict.fromkeys((code, helped))]


def _is_loop_in_loop(function: Function, call: Node) -> bool:
    inside = any(node.type in LOOPS for node in walk(function.body))
    return inside and inside_of(call, LOOPS) is not None


def _made(
    transform: Transform, code: Code, places: Sequence[Place], choice: Mapping[str, object]
) -> str | None:
    """The code with some places changed at once; None where the step cannot be carried out."""
    try:
        return _changed(transform, code, places, choice or next(transform.choices()))
    except Exception:  # noqa: BLE001 (a stranger's template raises anything)
        return None


def _changed(
    transform: Transform, code: Code, places: Sequence[Place], values: Mapping[str, object]
) -> str:
    edits = Edits()
    known: dict[str, object] = dict(values)
    for part, bound in places:
        # what the template sets is known to the templates of the other places
        known |= _rewrite(transform, code, (part, bound), values, edits, transform.inside)
        for also in transform.also:
            others = list(also.places(code.tree.root, bound))
            if not others:
                raise NoFitError("another place is missing")
            for other in others:
                _rewrite(also, code, other, known, edits)
    for part, bound in places[:1] if transform.before else []:
        helpers = _LANGUAGE.template(transform.before).render(_words(code, bound, known)).strip()
        edits.insert(_function(part.nodes[0]).start_byte, helpers and f"{helpers}\n\n")
    old = code.text(0, len(code.content))
    lines = [f"#include {name}\n" for name in transform.includes if f"#include {name}" not in old]
    if transform.top and transform.top in old:
        raise NoFitError("it stands there")
    lines = [f"{transform.top}\n", *lines] if transform.top else lines
    return "".join(lines) + edits.applied(code.content)


def _rewrite(
    rewrite: Rewrite,
    code: Code,
    place: Place,
    values: Mapping[str, object],
    edits: Edits,
    inside: Sequence[Inside] = (),
) -> dict[str, object]:
    part, bound = place
    words = _words(code, bound, values)
    if part.nodes[0].type == "for_statement" and Piece.of(part, code).is_rest:
        raise LeftError("no step is worth it in a loop over what another one left")
    if not all(_LANGUAGE.condition(condition)(**words) for condition in rewrite.where):
        raise LeftError("a condition does not hold")
    for name in dict.fromkeys(rule.of for rule in inside):
        rules = [rule for rule in inside if rule.of == name]
        words[name] = _within(code, bound, values, name, rules)
    module = _LANGUAGE.template(rewrite.becomes).make_module(words)
    new = str(module)
    if len(new) > LONGEST or " at 0x" in new:
        raise NoFitError("its template writes too much, or the address of a thing")
    directives = code.text(part.begin, part.nodes[0].start_byte)
    if directives and "directives" not in rewrite.becomes:
        raise NoFitError("a directive would be lost")
    line = code.content[: part.begin].rpartition(b"\n")[2].decode(errors="replace")
    blanks = line[: len(line) - len(line.lstrip())]
    if is_lone(part.nodes[0]):
        new = f"{{\n{new.strip()}\n}}"
    new = laid_out(new, blanks)
    if new.startswith("#") and line.strip():  # a directive begins a line
        new = f"\n{blanks}{new}"
    edits.replacements.append((part.begin, part.end, new))
    return {name: value for name, value in vars(module).items() if not name.startswith("_")}


def _within(
    code: Code, bound: Bound, values: Mapping[str, object], name: str, rules: list[Inside]
) -> Piece:
    """What a metavariable holds, with its rules carried out."""
    part, edits = bound[name], Edits()
    around = part.nodes[0].parent if part.nodes else None
    for rule in rules:
        for place, held in rule.places(around, bound) if around is not None else ():
            taken = any(a < place.end and place.begin < b for a, b, _ in edits.replacements)
            if not taken and part.begin <= place.begin < place.end <= part.end:
                with suppress(LeftError):
                    _rewrite(rule, code, (place, held), values, edits)
    return Piece.of(part, code, edits.applied(code.content, part.begin, part.end))


def _words(code: Code, bound: Bound, values: Mapping[str, object]) -> dict[str, object]:
    pieces = {name: Piece.of(part, code) for name, part in bound.items()}
    tools = {"fresh": code.fresh, "facts": code.facts, "type_of": code.type_of}
    tools |= {"foreign": code.foreign, "again": code.again, "objects": code.objects}
    return {**values, **pieces, **tools}


def _function(node: Node) -> Node:
    """The outermost function around a node, or the node."""
    while node.parent is not None and node.parent.type != "translation_unit":
        node = node.parent
    return node


def laid_out(code: str, blanks: str = "") -> str:
    """The code with four blanks for each open brace, below the first line's `blanks`."""
    if 'R"' in code:
        return code.strip()
    lines, depth, continues = list[str](), 0, False
    for line in code.strip().splitlines():
        if not line.strip() and (not lines[-1] or lines[-1].endswith("{")):
            continue  # an empty statement list of a template leaves an empty line
        plain = _QUOTED.sub("", line).strip()
        opened, closed = len(_OPENS.findall(plain)), len(_CLOSES.findall(plain))
        first = len(plain) - len(plain.lstrip("})]"))
        level = depth - first + (continues and not plain.startswith(("{", "}")))
        lines.append(f"{blanks}{'    ' * max(level, 0)}{line.strip()}".rstrip())
        depth = max(depth + opened - closed, 0)
        if plain and not plain.startswith("#"):
            continues = not plain.endswith((";", "{", "}", ":", ","))
    return "\n".join(lines).removeprefix(blanks)
