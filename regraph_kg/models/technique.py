"""Technique: a node of the graph; Vocabulary: its names, and when two spellings mean the same.

The vocabulary file (`corpus/techniques.json`) is a JSON list of techniques.
"""

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from regraph_kg.errors import BadInput
from regraph_kg.models.base import Frozen
from regraph_kg.models.target import NAMES, TARGETS, Target

TechniqueId = Annotated[
    str, StringConstraints(pattern=rf"^({NAMES})/[a-z0-9]+(-[a-z0-9]+)*$", max_length=200)
]

LONGEST_NAME = 200

Family = Literal["memory", "transfers", "parallelism", "sharing", "vectors", "loops"]
"""The subject of a technique: place and access of data; copies between host and device; division
of work; communication of threads; wide operations; loops."""


class Technique(Frozen):
    """A named code optimization within one target."""

    id: TechniqueId  #: "<target>/<slug>"; "<target>/start" is the initial state (serial code)
    name: str = Field(min_length=1, max_length=LONGEST_NAME)
    target: Target
    family: Family | None = None
    definition: str = ""
    applies: str = ""  #: when it applies, in one sentence
    hurts: str = ""  #: when it makes code slower or wrong, in one sentence
    needs: tuple[str, ...] = ()
    """Predicates over a code's facts (search/fit/predicates.py) that must all hold for it to be
    applied; "a|b": one of them is enough."""
    pointless: tuple[str, ...] = ()  #: predicates of which any makes it pointless
    leaves: tuple[str, ...] = ()
    """Marks of which its step leaves at least one: "new simd" (search/fit/applied.py). A new mark
    tells it from all others."""
    recipe: str = ""  #: instructions in two lines, for a small model
    steps: tuple[str, ...] = ()  #: the recipe of a large technique in smaller ones, in their order
    aliases: tuple[str, ...] = ()
    source: str = ""  #: the document that describes it: of a vendor, of a standard, or a paper
    replaces: tuple[TechniqueId, ...] = ()
    """Ids of techniques that were merged into this one; trajectories under them come here."""
    review: bool = False  #: made by an ingest under an unknown name, and not yet reviewed
    created: str = ""  #: UTC, ISO 8601; empty for the shipped vocabulary

    def __str__(self) -> str:
        lines = {
            "": self.definition,
            "When: ": self.applies,
            "It hurts: ": self.hurts,
            "Also called: ": ", ".join(sorted(self.aliases)),
            "Described in: ": self.source,
        }
        told = (f"{label}{text}" for label, text in lines.items() if text)
        return "\n".join((f"{self.name} ({self.id})", *told))

    @model_validator(mode="after")
    def _id_is_of_target(self) -> Self:
        if not self.id.startswith(f"{self.target}/"):
            raise ValueError(f"id {self.id!r} does not belong to target {self.target!r}")
        return self


def start_id(target: Target) -> str:
    """Id of the initial state of `target`: serial code, nothing applied."""
    return f"{target}/start"


def free_id(target: Target) -> str:
    """Path element of a step that the model chose itself; no technique has this id."""
    return f"{target}/free-choice"


def spelling(label: str) -> str:
    """The common form of a name's spellings: lower-case singular words, space-separated."""
    # Case, punctuation, accents, PascalCase, plurals and the marks around names of the languages
    # ("#pragma omp simd", "__restrict__") do not distinguish names.
    plain = "".join(c for c in unicodedata.normalize("NFKD", label) if not unicodedata.combining(c))
    words = " ".join(map(_split, re.findall(r"[^\W_]+", plain))).casefold().split()
    return " ".join(_singular(_SAME.get(word, word)) for word in words if word not in _MARKS)


def technique_id(target: Target, label: str) -> str:
    """The id that a technique named `label` gets: a function of its `spelling` alone."""
    words = spelling(label)
    slug = "-".join(re.findall(r"[a-z0-9]+", words))[:_SLUG].rstrip("-")
    # A hash is appended where the spelling does not make a slug, or would make the start's.
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

    `curated` (the vocabulary file) comes first; `stored` (the graph's techniques) adds techniques
    and aliases of earlier ingests. A technique that another one `replaces` stays away: its names
    mean the one that took its place. Raises `BadInput` when two curated techniques of
    a target share a spelling; of stored ones the first by id has it.

    The attribute `known` holds every technique by id, in the graph's version if it has one.
    """

    def __init__(self, curated: Sequence[Technique], stored: Sequence[Technique] = ()) -> None:
        _refuse_shared_names(curated)
        self._heirs = {old: heir.id for heir in (*stored, *curated) for old in heir.replaces}
        in_graph = {t.id: t for t in sorted(stored, key=lambda t: t.id) if t.id not in self._heirs}
        self.curated = tuple(t for t in curated if t.id not in self._heirs)
        self.known = {technique.id: technique for technique in self.curated} | in_graph
        self._names: dict[tuple[Target, str], Match] = {}
        self._add(self.curated)
        self._joined: dict[tuple[Target, str], set[str]] = {}
        for (target, words), match in self._names.items():
            self._joined.setdefault((target, _joined(words)), set()).add(match.technique)
        self._add([technique for technique in in_graph.values() if not technique.review])
        self._add_former((*stored, *curated))
        # an ingest's technique whose id a sender chose does not take names from the id that they
        # would get: whether it is known yet depends on what was merged first
        unseen = (technique for technique in in_graph.values() if technique.review)
        self._add([t for t in unseen if technique_id(t.target, t.name) == t.id])
        ingested = self.known.keys() - {technique.id for technique in self.curated}
        under_review = [self.known[key] for key in sorted(ingested)]
        self.candidates = (
            *self._named_by_people(curated),
            *(t for t in under_review if t.review and t.id == technique_id(t.target, t.name)),
        )

    def find(self, label: str, target: Target) -> Match | None:
        """The technique of `target` that `label` names, else None."""
        words = spelling(label.strip().removeprefix(f"{target}/"))
        match = self._names.get((target, words))
        if match is not None:
            return match
        # spelled in one word it names a technique where it names no other
        joined = sorted(self._joined.get((target, _joined(words)), ()))
        return Match(joined[0], "alias") if len(joined) == 1 else None

    def current(self, technique: str) -> str:
        """The current id of `technique` (an id): its own, or that of its replacement."""
        visited = {technique}
        while (heir := self._heirs.get(technique)) and heir not in visited:
            visited.add(heir)
            technique = heir
        return technique

    def _add(self, techniques: Sequence[Technique]) -> None:
        """Enter names, and aliases after all names; the first that has one keeps it."""
        for technique in techniques:
            for name in (technique.name, technique.id.partition("/")[2]):
                key = (technique.target, spelling(name))
                self._names.setdefault(key, Match(technique.id, "exact"))
        for technique in techniques:
            for name in technique.aliases:
                key = (technique.target, spelling(name))
                self._names.setdefault(key, Match(technique.id, "alias"))

    def _add_former(self, former: Sequence[Technique]) -> None:
        """Add a merged-away technique's id and names to its heir, if they are free."""
        names = {technique.id: (technique.name, *technique.aliases) for technique in former}
        for old in sorted(self._heirs):
            heir = self.known.get(self.current(old))
            if heir is None:  # two replace each other
                continue
            for name in (old.partition("/")[2], *names.get(old, ())):
                key = (heir.target, spelling(name))
                self._names.setdefault(key, Match(heir.id, "alias"))

    def _named_by_people(self, curated: Sequence[Technique]) -> Iterator[Technique]:
        """Techniques that people named, by id, each with the names that people gave it."""
        names: dict[str, list[str]] = {}
        for technique in curated:
            given = names.setdefault(self.current(technique.id), [])
            given += (technique.name, *technique.aliases)
        people = {t.id for t in self.known.values() if not t.review} | {t.id for t in self.curated}
        for technique in (self.known[key] for key in sorted(people)):
            if technique.id == start_id(technique.target):
                continue
            aliases = [name for name in names.get(technique.id, ()) if name != technique.name]
            yield technique.model_copy(update={"aliases": tuple(aliases)})


def by_id(techniques: Sequence[Technique]) -> Mapping[str, Technique]:
    """A graph's techniques, its initial states included."""
    starts = (Technique(id=start_id(t), name="Serial code", target=t) for t in TARGETS)
    return {technique.id: technique for technique in (*starts, *techniques)}


def resolve(name: str, techniques: Mapping[str, Technique], target: Target | None) -> str:
    """The id that `name` (an id, name or alias) means; `BadInput` lists near ids."""
    if name in techniques:
        return name
    vocabulary = Vocabulary((), tuple(techniques.values()))
    matches = [vocabulary.find(name, candidate) for candidate in ([target] if target else TARGETS)]
    ids = [match.technique for match in matches if match is not None]
    if len(ids) == 1:
        return ids[0]
    if ids:
        raise BadInput(f"technique {name!r} is {' and '.join(ids)}: give --target, or the id")
    by_slug = {
        key.partition("/")[2]: key for key in techniques if target in (None, techniques[key].target)
    }
    near = get_close_matches(spelling(name).replace(" ", "-"), by_slug, n=3)
    hint = f"; near it: {', '.join(by_slug[slug] for slug in near)}" if near else ""
    raise BadInput(f"technique {name!r} is not in the graph (regraph techniques show){hint}")


def resolve_pair(
    before: str, after: str, techniques: Mapping[str, Technique], target: Target | None
) -> tuple[str, str]:
    """The ids of a step's two techniques; the later one tells the target of the earlier."""
    second = resolve(after, techniques, target)
    return resolve(before, techniques, target or techniques[second].target), second


def _refuse_shared_names(techniques: Sequence[Technique]) -> None:
    """Raise `BadInput` for two techniques of one id, or of one target with one name."""
    if twice := [key for key, count in Counter(t.id for t in techniques).items() if count > 1]:
        raise BadInput(f"technique {twice[0]} stands there twice: keep one")
    owners: dict[tuple[Target, str], str] = {}
    for technique in techniques:
        for name in (technique.name, technique.id.partition("/")[2], *technique.aliases):
            other = owners.setdefault((technique.target, spelling(name)), technique.id)
            if other != technique.id:
                raise BadInput(
                    f"techniques {other} and {technique.id} share the name {name!r}:"
                    " take it away from one of them"
                )


def _joined(words: str) -> str:
    """Spelled in one word ("off load" = "offload"); numbers stay apart."""
    return re.sub(r"(?<!\d) | (?!\d)", "", words)


_MARKS = frozenset({"pragma"})
_SAME = {"indices": "index", "matrices": "matrix", "omp": "openmp"}
_INVARIANT = frozenset({"series", "species"})

_SLUG = 120  # longest slug; a longer one is cut and hashed


def _split(word: str) -> str:
    """PascalCase into words; cudaMallocHost, OpenMP and SoA are one word each."""
    return re.sub(r"(?<=[a-z])(?=[A-Z][a-z])", " ", word) if word[0].isupper() else word


def _singular(word: str) -> str:
    if re.search(r"..[^aeiou]ies$", word) and word not in _INVARIANT:
        return f"{word[:-3]}y"
    if re.search(r"(ss|[nt]ch|sh|x)es$", word):
        return word[:-2]
    if re.search(r"..[^aius]s$", word):
        return word[:-1]
    return word
