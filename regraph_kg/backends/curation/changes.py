"""The change of each curation, computed from the current techniques without a store.

All functions raise `BadInput` for unknown ids, another target, the initial states, and names and
ids that another technique owns.
"""

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches

from regraph_kg.errors import BadInput
from regraph_kg.models.curation import Change, Changed, Transfer
from regraph_kg.models.target import Target
from regraph_kg.models.technique import LONGEST_NAME, Technique, spelling, start_id, technique_id

LONGEST_TEXT = 2_000
"""Characters of a definition."""

TechniquesById = Mapping[str, Technique]


def find(by_id: TechniquesById, technique: str) -> Technique:
    """The technique with this id; `BadInput` where none has it, or for an initial state."""
    match = by_id.get(technique)
    if match is not None and match.id != start_id(match.target):
        return match
    if match is not None:
        raise BadInput(f"{technique} is the initial state: it stays as it is")
    for other in by_id.values():
        if technique in other.replaces:
            raise BadInput(f"technique {technique} was merged into {other.id}: give that id")
    for other in by_id.values():
        if spelling(technique) in map(spelling, names(other)):
            raise BadInput(f"{technique[:80]!r} is a name of {other.id}: give the id")
    near = get_close_matches(technique[:200], by_id, n=3)
    hint = f"; near it: {', '.join(near)}" if near else ""
    raise BadInput(
        f"technique {technique[:80]!r} is not in the graph (regraph techniques show){hint}"
    )


def merge(by_id: TechniquesById, keep: str, others: Sequence[str]) -> Change:
    """`others` become `keep`: their steps, their names, their ids."""
    heir, sources = find(by_id, keep), [find(by_id, other) for other in dict.fromkeys(others)]
    for source in sources:
        if source.id == heir.id:
            raise BadInput(f"{keep}: cannot be merged with itself; give two techniques")
        if source.target != heir.target:
            raise BadInput(
                f"{keep} is of target {heir.target}, {source.id} of {source.target}:"
                " techniques of two targets are never one"
            )
    if not sources:
        raise BadInput(f"{keep}: give the techniques to merge into it")
    aliases = _with_aliases(heir, [name for source in sources for name in names(source)])
    spellings = set(map(spelling, (*names(heir), *aliases)))
    disowned = dict.fromkeys(name for source in (heir, *sources) for name in source.disowned)
    texts = {
        name: next(filter(None, (getattr(t, name) for t in (heir, *sources))), "")
        for name in ("definition", "applies", "hurts")
    }
    after = heir.model_copy(
        update={
            "aliases": aliases,
            "disowned": tuple(name for name in disowned if spelling(name) not in spellings),
            "replaces": (*heir.replaces, *(key for t in sources for key in (t.id, *t.replaces))),
            "review": False,
        }
        | texts
    )
    return Change(
        techniques=(
            Changed(before=heir, after=after),
            *(Changed(before=source, after=None) for source in sources),
        ),
        transfers=tuple(Transfer(source=source.id, heir=heir.id) for source in sources),
    )


def split(by_id: TechniquesById, technique: str, labels: Sequence[str], part: Technique) -> Change:
    """`labels` and the steps of that name go from `technique` to the new `part`."""
    source = find(by_id, technique)
    _check_id(by_id, part.id, lender=source.id)
    _check_name(by_id, part, except_for=source.id)
    taken = frozenset(map(spelling, labels))
    _check_labels(source, taken, labels)
    part = part.model_copy(
        update={
            "aliases": _with_aliases(part, [*_matching(source.aliases, taken), *labels]),
        }
    )
    rest = _without(source, taken)
    rest = rest.model_copy(
        update={"replaces": tuple(replace for replace in rest.replaces if replace != part.id)}
    )
    _check_name({rest.id: rest}, part)
    return Change(
        techniques=(Changed(before=source, after=rest), Changed(before=None, after=part)),
        transfers=(Transfer(source=source.id, heir=part.id, names=taken),),
    )


def move(by_id: TechniquesById, technique: str, labels: Sequence[str], to: str) -> Change:
    """`labels` and the steps of that name go from `technique` to another one."""
    source, heir = find(by_id, technique), find(by_id, to)
    if source.id == heir.id:
        raise BadInput(f"{to}: has these names already; give another technique")
    if source.target != heir.target:
        raise BadInput(f"{source.id} and {heir.id} are of two targets: steps stay in theirs")
    taken = frozenset(map(spelling, labels))
    _check_labels(source, taken, labels)
    owned = {spelling(name) for name in heir.disowned} & taken
    after = heir.model_copy(
        update={
            "aliases": _with_aliases(heir, [*_matching(source.aliases, taken), *labels]),
            "disowned": tuple(name for name in heir.disowned if spelling(name) not in owned),
        }
    )
    return Change(
        techniques=(
            Changed(before=source, after=_without(source, taken)),
            Changed(before=heir, after=after),
        ),
        transfers=(Transfer(source=source.id, heir=heir.id, names=taken),),
    )


def rename(by_id: TechniquesById, technique: str, name: str, new_id: str | None = None) -> Change:
    """Another name, and if `new_id` another id; the old ones still lead to the technique."""
    before = find(by_id, technique)
    if new_id is None or new_id == before.id:
        after = _validated(before.model_dump() | {"name": name})
    else:
        _check_id(by_id, new_id, lender=before.id)
        old = tuple(replace for replace in before.replaces if replace != new_id)
        fields = {"name": name, "id": new_id, "replaces": (*old, before.id)}
        after = _validated(before.model_dump() | fields)
    _check_name(by_id, after, except_for=before.id)
    if before.name == after.name and before.id == after.id:
        raise BadInput(f"{before.id} is called {name!r} already")
    after = after.model_copy(
        update={"aliases": _with_aliases(after, [before.name, *before.aliases, slug(before)])}
    )
    if after.id == before.id:
        return Change(techniques=(Changed(before=before, after=after),))
    return Change(
        techniques=(Changed(before=None, after=after), Changed(before=before, after=None)),
        transfers=(Transfer(source=before.id, heir=after.id),),
    )


def describe(by_id: TechniquesById, technique: str, texts: Mapping[str, str]) -> Change:
    """New `texts` (definition, applies, hurts) of a technique; an empty one changes nothing."""
    before = find(by_id, technique)
    for text in texts.values():
        if text and not (spelling(text) and len(text) <= LONGEST_TEXT and text.isprintable()):
            raise BadInput(
                f"{text[:40]!r}: write a sentence of at most {LONGEST_TEXT} printable characters"
            )
    fields = {name: text for name, text in texts.items() if text}
    after = before.model_copy(update=fields | {"review": False})
    return Change(techniques=(Changed(before=before, after=after),))


def drop(by_id: TechniquesById, technique: str) -> Change:
    """Delete a technique that no step leads to."""
    return Change(techniques=(Changed(before=find(by_id, technique), after=None),))


def keep(by_id: TechniquesById, techniques: Sequence[str]) -> Change:
    """Mark these techniques as reviewed."""
    found = (find(by_id, technique) for technique in dict.fromkeys(techniques))
    return Change(
        techniques=tuple(
            Changed(before=technique, after=technique.model_copy(update={"review": False}))
            for technique in found
        )
    )


def new_technique(target: Target, name: str, **fields: object) -> Technique:
    """A technique that a curator describes; its id follows from its name by default."""
    key = fields.pop("id", None) or technique_id(target, name)
    return _validated({"id": key, "name": name, "target": target} | fields)


def names(technique: Technique) -> tuple[str, ...]:
    """All names of a technique: name, aliases, and the words of its id."""
    return (technique.name, *technique.aliases, slug(technique))


def slug(technique: Technique) -> str:
    """The words of a technique's id."""
    return technique.id.partition("/")[2].replace("-", " ")


def _with_aliases(technique: Technique, new: Iterable[str]) -> tuple[str, ...]:
    """The technique's aliases and those of the new names that it lacks, each spelling once."""
    aliases, spellings = list(technique.aliases), set(map(spelling, names(technique)))
    for name in new:
        if spelling(name) not in spellings:
            spellings.add(spelling(name))
            aliases.append(name)
    return tuple(aliases)


def _matching(aliases: Iterable[str], spellings: frozenset[str]) -> list[str]:
    return [alias for alias in aliases if spelling(alias) in spellings]


def _without(technique: Technique, spellings: frozenset[str]) -> Technique:
    """The technique without these names, which a vocabulary file cannot give back."""
    removed = _matching(technique.aliases, spellings)
    disowned = set(map(spelling, (*technique.disowned, *removed)))
    return technique.model_copy(
        update={
            "aliases": tuple(alias for alias in technique.aliases if alias not in removed),
            "disowned": (*technique.disowned, *removed, *sorted(spellings - disowned)),
        }
    )


def _check_labels(source: Technique, taken: frozenset[str], labels: Sequence[str]) -> None:
    if not taken:
        raise BadInput(f"{source.id}: say which names to take away (--aliases)")
    fixed = {spelling(source.name), spelling(slug(source))} & taken
    for label in labels:
        if spelling(label) in fixed:
            raise BadInput(
                f"{label!r} is {source.id}'s own name: rename it first"
                " (regraph techniques mend rename)"
            )


def _check_id(by_id: TechniquesById, new: str, *, lender: str) -> None:
    """Raise unless an id is free; `lender` gives back an id that it took over in a merge."""
    if new in by_id:
        raise BadInput(f"id {new} is taken by {by_id[new].name!r}: give another --id or --name")
    for other in by_id.values():
        if new in other.replaces and other.id != lender:
            raise BadInput(f"id {new} leads to {other.id} since a merge: give another --id")


def _check_name(by_id: TechniquesById, technique: Technique, except_for: str = "") -> None:
    name = spelling(technique.name)
    if not name:
        raise BadInput(f"name {technique.name!r} has no letter or digit: give a name")
    for other in sorted(by_id.values(), key=lambda other: other.id):
        if other.target != technique.target or other.id == except_for:
            continue
        if name in map(spelling, names(other)):
            raise BadInput(
                f"the name {technique.name!r} is {other.id}'s: merge the two, or give another"
            )


def _validated(fields: Mapping[str, object]) -> Technique:
    """The technique of a curator's input; `BadInput` for an invalid name or id."""
    name = str(fields["name"])
    if not 0 < len(name) <= LONGEST_NAME or not name.isprintable():
        raise BadInput(
            f"name {name[:40]!r}: 1 to {LONGEST_NAME} printable characters; give another"
        )
    try:
        return Technique.model_validate(fields)
    except ValueError:
        raise BadInput(
            f"id {str(fields['id'])[:80]!r}: must be the target, a slash and lower-case words"
            " joined by hyphens, such as cuda/warp-shuffle; give another --id"
        ) from None
