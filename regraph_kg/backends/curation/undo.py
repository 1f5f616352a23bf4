"""The change that takes a curation back, from what it changed and what there is now."""

from collections.abc import Iterable, Mapping

from regraph_kg.backends.curation.changes import TechniquesById, names
from regraph_kg.errors import BadInput
from regraph_kg.models.curation import Change, Changed, Transfer
from regraph_kg.models.technique import Technique, spelling

LISTS = ("aliases", "replaces", "disowned")


def reversal(change: Change, known: TechniquesById) -> Change:
    """What makes it as if `change` had not been: what came since then stays.

    A technique that it made goes, and all that came to it leads where it was made from. One that it
    took away comes back, and with it what came since under its names (`Transfer.names`).
    """
    made = {technique.id for technique in change.techniques if technique.before is None}
    back = {
        technique.id: technique.before
        for technique in change.techniques
        if technique.after is None and technique.before
    }
    heirs = {
        transfer.heir: transfer.source for transfer in change.transfers if transfer.heir in made
    }
    now = {
        technique.id: known[technique.id]
        for technique in change.techniques
        if technique.id in known
    }
    after = {
        technique.id: _restored(technique, now.get(technique.id)) for technique in change.techniques
    }
    for gone, heir in heirs.items():
        kept = after.get(heir)
        if gone in now and kept is not None:
            after[heir] = _endowed(kept, now[gone], _change_of(change, gone))
    return Change(
        techniques=tuple(Changed(before=now.get(key), after=one) for key, one in after.items()),
        transfers=tuple(
            Transfer(
                source=transfer.heir,
                heir=transfer.source,
                names=None if transfer.heir in made else _names_back(transfer, back, after),
            )
            for transfer in change.transfers
        ),
    )


def _restored(changed: Changed, now: Technique | None) -> Technique | None:
    before, after = changed.before, changed.after
    if before is not None and after is None and now is not None:
        # An ingest that began before the curation has made it anew: nothing of that is lost.
        return _endowed(before, now, Changed(before=None, after=before))
    if before is None or after is None:
        return before
    if now is None:
        raise BadInput(f"technique {changed.id} is no longer there: it cannot be restored")
    fields: dict[str, object] = {}
    for name in type(now).model_fields:
        old, new, current = (getattr(one, name) for one in (before, after, now))
        if name in LISTS:
            fields[name] = _list_restored(old, new, current)
        elif current == new:
            fields[name] = old
    return now.model_copy(update=fields)


def _list_restored(old: Iterable[str], new: Iterable[str], now: Iterable[str]) -> tuple[str, ...]:
    """What was there, then what came since."""
    old, new = tuple(old), tuple(new)
    later = [one for one in now if one not in new]
    dropped = set(new) - set(now)
    return tuple(one for one in dict.fromkeys((*old, *later)) if one not in dropped)


def _endowed(heir: Technique, gone: Technique, changed: Changed) -> Technique:
    """With the names that a technique which goes has won since it was made."""
    made = changed.after
    had = set(map(spelling, names(made))) if made is not None else set()
    known = set(map(spelling, names(heir)))
    won = [alias for alias in gone.aliases if spelling(alias) not in had | known]
    ids = [replace for replace in gone.replaces if made is None or replace not in made.replaces]
    return heir.model_copy(
        update={"aliases": (*heir.aliases, *won), "replaces": (*heir.replaces, *ids)}
    )


def _names_back(
    transfer: Transfer, back: Mapping[str, Technique], after: Mapping[str, Technique | None]
) -> frozenset[str]:
    """Spellings that lead to the source again, and not to both."""
    if transfer.names is not None:
        return transfer.names
    heir = after[transfer.heir]
    theirs = set(map(spelling, names(heir))) if heir is not None else set()
    return frozenset(map(spelling, names(back[transfer.source]))) - theirs


def _change_of(change: Change, technique: str) -> Changed:
    return next(one for one in change.techniques if one.id == technique)
