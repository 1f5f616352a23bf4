"""Techniques of a graph by id, name, alias, or "start"."""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches

from regraph_kg.errors import BadInput
from regraph_kg.models.target import TARGETS, Target
from regraph_kg.models.technique import Technique, Vocabulary, spelling, start_id


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
