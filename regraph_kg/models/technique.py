"""Technique: a node of the graph; Vocabulary: its names, and when two spellings mean the same.

The vocabulary file (`corpus/techniques.json`) is a JSON list of techniques.
"""

import hashlib
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from regraph_kg.errors import BadInput
from regraph_kg.models.base import Frozen, Target

TechniqueId = Annotated[
    str,
    StringConstraints(pattern=r"^(cuda|openmp)/[a-z0-9]+(-[a-z0-9]+)*$", max_length=200),
]

LONGEST_NAME = 200


class Technique(Frozen):
    """A named code optimization within one target.

    `id` is "<target>/<slug>"; "<target>/start" is the initial state (serial code).
    """

    id: TechniqueId
    name: str = Field(min_length=1, max_length=LONGEST_NAME)
    target: Target
    definition: str = ""
    applies: str = ""
    """When it applies, in one sentence."""
    aliases: tuple[str, ...] = ()
    replaces: tuple[TechniqueId, ...] = ()
    """Ids of techniques that were merged into this one: what is sent under them lands here."""
    review: bool = False
    """Made by an ingest under a name that nothing recognized; nobody has looked at it yet."""
    created: str = ""
    """UTC, ISO 8601; empty for the shipped vocabulary."""

    @model_validator(mode="after")
    def _id_is_of_target(self) -> Self:
        if not self.id.startswith(f"{self.target}/"):
            raise ValueError(f"id {self.id!r} does not belong to target {self.target!r}")
        return self


def start_id(target: Target) -> str:
    """Id of the initial state of `target`: serial code, nothing applied."""
    return f"{target}/start"


def spelling(label: str) -> str:
    """What spellings of one name have in common: lower-case singular words, space-separated.

    Case, punctuation, accents, PascalCase, plurals and the marks around names of the languages
    ("#pragma omp simd", "__restrict__") do not distinguish names.
    """
    plain = "".join(c for c in unicodedata.normalize("NFKD", label) if not unicodedata.combining(c))
    words = " ".join(map(_split, re.findall(r"[^\W_]+", plain))).casefold().split()
    return " ".join(_singular(_SAME.get(word, word)) for word in words if word not in _MARKS)


def technique_id(target: Target, label: str) -> str:
    """The id that a technique named `label` gets: a function of its `spelling` alone.

    A hash is appended where the spelling does not make a slug, or would make the start's.
    """
    words = spelling(label)
    slug = "-".join(re.findall(r"[a-z0-9]+", words))[:_SLUG].rstrip("-")
    if not slug or slug == "start" or slug.replace("-", " ") != words:
        slug = f"{slug or 'technique'}-{hashlib.sha256(words.encode()).hexdigest()[:8]}"
    return f"{target}/{slug}"


@dataclass(frozen=True, slots=True)
class Match:
    """A technique found by a name: "exact" by its id or name, "alias" by an alias."""

    technique: str
    stage: Literal["exact", "alias"]


class Vocabulary:
    """Techniques, found by id, name or alias within their target.

    `curated` (the vocabulary file) comes first; `stored` (what a graph knows) adds the techniques
    and aliases that earlier ingests made. Raises `BadInput` when two curated techniques of a target
    share a spelling; where stored ones do, the first by id has it.
    """

    def __init__(self, curated: Sequence[Technique], stored: Sequence[Technique] = ()) -> None:
        self.curated = tuple(curated)
        self.known = {t.id: t for t in (*stored, *curated)}
        self._curated, self._stored = _Names(), _Names()
        for technique in curated:
            self._curated.add(technique, refuse=True)
        for technique in sorted(stored, key=lambda t: t.id):
            # An ingest's technique whose id a sender chose does not take names from the id that
            # they would get: whether it is known yet depends on what was merged first.
            if (
                not technique.created
                or technique_id(technique.target, technique.name) == technique.id
            ):
                self._stored.add(technique)

    def find(self, label: str, target: Target) -> Match | None:
        """The technique of `target` that `label` names, else None."""
        key = (target, spelling(label))
        for names in (self._curated, self._stored):
            if key in names.exact:
                return Match(names.exact[key], "exact")
            if key in names.alias:
                return Match(names.alias[key], "alias")
        return None


class _Names:
    """(target, spelling) -> technique id; `exact` by id and name, `alias` by alias."""

    def __init__(self) -> None:
        self.exact: dict[tuple[Target, str], str] = {}
        self.alias: dict[tuple[Target, str], str] = {}

    def add(self, technique: Technique, *, refuse: bool = False) -> None:
        slug = technique.id.partition("/")[2]
        for table, names in (
            (self.exact, (technique.name, slug)),
            (self.alias, technique.aliases),
        ):
            for name in names:
                key = (technique.target, spelling(name))
                other = self.exact.get(key) or self.alias.get(key) or technique.id
                if refuse and other != technique.id:
                    raise BadInput(
                        f"techniques {other} and {technique.id} share the name {name!r}:"
                        " take it away from one of them"
                    )
                table.setdefault(key, technique.id)


_MARKS = frozenset({"pragma"})
_SAME = {"omp": "openmp"}

_SLUG = 120
"""Longest slug; a longer one is cut and hashed."""


def _split(word: str) -> str:
    """PascalCase into words; cudaMallocHost, OpenMP and SoA are one word each."""
    return re.sub(r"(?<=[a-z])(?=[A-Z][a-z])", " ", word) if word[0].isupper() else word


def _singular(word: str) -> str:
    if re.search(r"(ss|[nt]ch|sh|x)es$", word):
        return word[:-2]
    if re.search(r"..[^aius]s$", word):
        return word[:-1]
    return word
