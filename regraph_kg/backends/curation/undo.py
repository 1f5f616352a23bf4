"""The change that takes a curation back, from its own change and the current techniques."""

from collections.abc import Iterable, Mapping

from regraph_kg.backends.curation.changes import TechniquesById, names
from regraph_kg.errors import BadInput
from regraph_kg.models.curation import Change, Changed, Transfer
from regraph_kg.models.technique import Technique, spelling

LISTS = ("aliases", "replaces", "disowned")


def reversal(change: Change, by_id: TechniquesById) -> Change:
    """The change that undoes `change` and keeps everything that came since.

    A technique that it made goes, and its steps lead to the one that it was made from. A removed
    technique comes back, with the steps that came since under its names (`Transfer.names`).
    """
    new = {technique.id for technique in change.techniques if technique.before is None}
    back = {
        technique.id: technique.before
        for technique in change.techniques
        if technique.after is None and technique.before
    }
    heirs = {
        transfer.heir: transfer.source for transfer in change.transfers if transfer.heir in new
    }
    now = {
        technique.id: by_id[technique.id]
        for technique in change.techniques
        if technique.id in by_id
    }
    after = {
        technique.id: _restored(technique, now.get(technique.id)) for technique in change.techniques
    }
    for removed, heir in heirs.items():
        successor = after.get(heir)
        if removed in now and successor is not None:
            after[heir] = _with_gained_names(successor, now[removed], _change_of(change, removed))
    return Change(
        techniques=tuple(Changed(before=now.get(key), after=new) for key, new in after.items()),
        transfers=tuple(
            Transfer(
                source=transfer.heir,
                heir=transfer.source,
                names=None if transfer.heir in new else _names_back(transfer, back, after),
            )
            for transfer in change.transfers
        ),
    )


def _restored(changed: Changed, now: Technique | None) -> Technique | None:
    before, after = changed.before, changed.after
    if before is not None and after is None and now is not None:
        # An ingest that began before the curation made it again: its names must not get lost.
        return _with_gained_names(before, now, Changed(before=None, after=before))
    if before is None or after is None:
        return before
    if now is None:
        raise BadInput(f"technique {changed.id} is no longer there: it cannot be restored")
    fields: dict[str, object] = {}
    for name in type(now).model_fields:
        old, new, current = (getattr(version, name) for version in (before, after, now))
        if name in LISTS:
            fields[name] = _list_restored(old, new, current)
        elif current == new:
            fields[name] = old
    return now.model_copy(update=fields)


def _list_restored(old: Iterable[str], new: Iterable[str], now: Iterable[str]) -> tuple[str, ...]:
    """The old items, then those that came since, without those that were dropped since."""
    old, new = tuple(old), tuple(new)
    later = [item for item in now if item not in new]
    dropped = set(new) - set(now)
    return tuple(item for item in dict.fromkeys((*old, *later)) if item not in dropped)


def _with_gained_names(heir: Technique, removed: Technique, changed: Changed) -> Technique:
    """The heir with the names that a removed technique gained since `changed`."""
    original = changed.after
    before = set(map(spelling, names(original))) if original is not None else set()
    spellings = set(map(spelling, names(heir)))
    won = [alias for alias in removed.aliases if spelling(alias) not in before | spellings]
    replaced = set(original.replaces) if original is not None else set()
    ids = [key for key in removed.replaces if key not in replaced]
    return heir.model_copy(
        update={"aliases": (*heir.aliases, *won), "replaces": (*heir.replaces, *ids)}
    )


def _names_back(
    transfer: Transfer, back: Mapping[str, Technique], after: Mapping[str, Technique | None]
) -> frozenset[str]:
    """Spellings that lead to the source again and not to the heir."""
    if transfer.names is not None:
        return transfer.names
    heir = after[transfer.heir]
    theirs = set(map(spelling, names(heir))) if heir is not None else set()
    return frozenset(map(spelling, names(back[transfer.source]))) - theirs


def _change_of(change: Change, technique: str) -> Changed:
    return next(changed for changed in change.techniques if changed.id == technique)
