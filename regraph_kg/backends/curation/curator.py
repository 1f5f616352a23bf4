"""BoltCurator: changes that a person makes to the vocabulary, each one write transaction.

A curation is planned (`changes`, `undo`), its steps move to other techniques (`transfer`), and the
log gets all that an undo needs (`log`). Curations take turns: the graph's stamp is their lock. A
writer that extends one of its techniques meanwhile restarts a curation.
"""

import secrets
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from regraph_kg.backends import edges
from regraph_kg.backends import techniques as vocabulary
from regraph_kg.backends.bolt import CommitUnknown, OnBolt, Overtaken, Query
from regraph_kg.backends.curation import changes, log
from regraph_kg.backends.curation.changes import TechniquesById
from regraph_kg.backends.curation.log import Places, Record
from regraph_kg.backends.curation.transfer import LockedTrajectories
from regraph_kg.backends.curation.undo import reversal
from regraph_kg.backends.evidence import Pair
from regraph_kg.errors import BadInput, StoreError
from regraph_kg.models.curation import (
    Change,
    Curation,
    CurationKind,
    LabelDecision,
    Note,
    Part,
    TechniqueUsage,
    Transfer,
)
from regraph_kg.models.technique import Technique, spelling

LABELS = 2
"""Labels of a technique that are shown to a curator."""
LONGEST_WHO, LONGEST_WHY = 200, 2_000


@dataclass(frozen=True, slots=True)
class Order:
    """A planned curation."""

    kind: CurationKind
    change: Change
    summary: str
    labels: tuple[str, ...] = ()
    undoes: int | None = None
    also: tuple[Places, ...] = ()
    """Per transfer: places that move whatever their label."""
    but: tuple[Places, ...] = ()
    """Per transfer: places that stay whatever their label."""
    leaves: bool = False
    """Whether its source must keep a step or failure."""


class BoltCurator(OnBolt):
    """Curation behind a Bolt connection; `graph.Curator` is the contract."""

    def merge(self, keep: str, others: Sequence[str], note: Note) -> Curation:
        """See `Curator`."""

        def order(ask: Query, by_id: TechniquesById) -> Order:
            change = changes.merge(by_id, keep, others)
            sources = " and ".join(technique.id for technique in change.techniques[1:])
            return Order("merge", change, f"merged {sources} into {keep}")

        return self._commit(order, note)

    def split(self, technique: str, labels: Sequence[str], part: Part, note: Note) -> Curation:
        """See `Curator`."""

        def order(ask: Query, by_id: TechniquesById) -> Order:
            source = changes.find(by_id, technique)
            names = _labels(ask, source, labels)
            new_technique = changes.new_technique(
                source.target,
                part.name or names[0][:1].upper() + names[0][1:],
                id=part.id,
                definition=part.definition,
                created=_now(),
            )
            change = changes.split(by_id, technique, names, new_technique)
            return Order(
                "split",
                change,
                f"split {change.transfers[0].heir} off {technique}",
                labels=names,
                leaves=True,
            )

        return self._commit(order, note)

    def move(self, technique: str, labels: Sequence[str], to: str, note: Note) -> Curation:
        """See `Curator`."""

        def order(ask: Query, by_id: TechniquesById) -> Order:
            names = _labels(ask, changes.find(by_id, technique), labels)
            change = changes.move(by_id, technique, names, to)
            summary = f"moved {len(names)} names from {technique} to {to}"
            return Order("split", change, summary, labels=names, leaves=True)

        return self._commit(order, note)

    def rename(
        self, technique: str, name: str, note: Note, *, new_id: str | None = None
    ) -> Curation:
        """See `Curator`."""

        def order(ask: Query, by_id: TechniquesById) -> Order:
            change = changes.rename(by_id, technique, name, new_id)
            summary = f"renamed {technique} {by_id[technique].name!r} to {name!r}"
            if change.transfers:
                summary += f", now {change.transfers[0].heir}"
            return Order("rename", change, summary)

        return self._commit(order, note)

    def describe(
        self,
        technique: str,
        note: Note,
        *,
        definition: str = "",
        applies: str = "",
        hurts: str = "",
    ) -> Curation:
        """See `Curator`."""
        texts = {"definition": definition, "applies": applies, "hurts": hurts}

        def order(ask: Query, by_id: TechniquesById) -> Order:
            change = changes.describe(by_id, technique, texts)
            return Order("describe", change, f"described {technique}")

        return self._commit(order, note)

    def drop(self, technique: str, note: Note) -> Curation:
        """See `Curator`."""

        def order(ask: Query, by_id: TechniquesById) -> Order:
            change = changes.drop(by_id, technique)
            holding = LockedTrajectories(ask)
            holding.lock([technique])
            if here := len(holding.before):
                raise BadInput(
                    f"{here} trajectories go to {technique}: merge it into another technique"
                    " instead (regraph techniques mend merge)"
                )
            return Order("drop", change, f"dropped {technique}")

        return self._commit(order, note)

    def keep(
        self, techniques: Sequence[str], note: Note, *, labels: Sequence[str] = ()
    ) -> Curation:
        """See `Curator`."""

        def order(ask: Query, by_id: TechniquesById) -> Order:
            change = changes.keep(by_id, techniques)
            for label in labels:
                if not any(label in by_id[technique].aliases for technique in techniques):
                    raise BadInput(f"{label[:80]!r} is no alias of {' or '.join(techniques)}")
            summary = f"kept {' apart from '.join(dict.fromkeys(techniques))}"
            return Order("keep", change, summary, labels=tuple(labels))

        return self._commit(order, note)

    def undo(self, number: int | None, note: Note) -> Curation:
        """See `Curator`."""
        return self._commit(lambda ask, by_id: _undo_order(ask, by_id, number), note)

    def log(self) -> tuple[Curation, ...]:
        """See `Curator`."""
        return self._bolt.read(log.read)

    def verdicts(self) -> tuple[LabelDecision, ...]:
        """See `Curator`."""
        return self._bolt.read(log.verdicts)

    def usage(self) -> tuple[TechniqueUsage, ...]:
        """See `Curator`."""
        return self._bolt.read(_usage)

    def _commit(self, order: Callable[[Query, TechniquesById], Order], note: Note) -> Curation:
        if not 0 < len(note.who) <= LONGEST_WHO or len(note.why) > LONGEST_WHY:
            raise BadInput(
                f"who is 1 to {LONGEST_WHO} characters, why at most {LONGEST_WHY}: shorten --why"
            )

        token = secrets.token_hex(16)

        def work(ask: Query) -> Curation:
            ask("lock_stamp")
            return log.find_by_token(ask, token) or _carry_out(
                ask, order(ask, _techniques_by_id(ask)), note, token
            )

        try:
            return self._bolt.write(work)
        except CommitUnknown as error:
            raise StoreError(f"{error}; regraph techniques show --log says which") from None


def _techniques_by_id(ask: Query) -> TechniquesById:
    return {technique.id: technique for technique in vocabulary.every(ask)}


def _carry_out(ask: Query, order: Order, note: Note, token: str) -> Curation:
    """Make and log a curation; a retry finds it by the token."""
    change = order.change
    holding = LockedTrajectories(ask)
    holding.lock(transfer.source for transfer in change.transfers)
    moves: list[Places] = []
    for index, transfer in enumerate(change.transfers):
        also, but = (sets[index] if sets else frozenset() for sets in (order.also, order.but))
        places = holding.chosen(transfer, also, but).difference(*moves)
        holding.redirect(places, transfer.heir)
        moves.append(places)
    if order.leaves and moves[0] and moves[0] == holding.at(change.transfers[0].source):
        raise BadInput(
            f"nothing would be left of {change.transfers[0].source}: rename or merge it instead"
        )
    stays = tuple(_stays(ask, change, transfer) for transfer in change.transfers)
    _lock(ask, change, holding.changed_pairs())
    vocabulary.write(ask, [one.after for one in change.techniques if one.after])
    holding.write()
    ask(
        "curate_delete",
        ids=[technique.id for technique in change.techniques if technique.after is None],
    )
    at = [place.at for places in moves for place in places]
    curation = Curation(
        number=1 + max((entry.number for entry in log.read(ask)), default=0),
        kind=order.kind,
        who=note.who,
        why=note.why,
        created=_now(),
        summary=order.summary,
        techniques=tuple(technique.id for technique in change.techniques),
        labels=order.labels,
        examples=sum(isinstance(place, int) for place in at),
        failures=sum(isinstance(place, str) for place in at),
        undoes=order.undoes,
    )
    log.write(ask, curation, Record(change, tuple(moves), stays), token)
    return curation


def _lock(ask: Query, change: Change, pairs: Collection[Pair]) -> None:
    """Lock these pairs and techniques; `Overtaken` if another writer changed the techniques."""
    edges.hold(ask, pairs)
    ends = {end for pair in pairs for end in pair}
    ask("lock_techniques", ids=sorted(ends.union(technique.id for technique in change.techniques)))
    by_id = _techniques_by_id(ask)
    if any(by_id.get(technique.id) != technique.before for technique in change.techniques):
        raise Overtaken


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _stays(ask: Query, change: Change, transfer: Transfer) -> Places:
    """Places of the heir under names that an undo would take for the source's."""
    before = {technique.id: technique.before for technique in change.techniques}
    if before[transfer.heir] is None:
        return frozenset()
    names = transfer.names
    if names is None:
        source = before[transfer.source]
        names = frozenset(map(spelling, changes.names(source))) if source else frozenset()
    holding = LockedTrajectories(ask)
    holding.read([transfer.heir])
    return holding.labelled(transfer.heir, names)


def _labels(ask: Query, source: Technique, texts: Sequence[str]) -> tuple[str, ...]:
    """The names in `texts`: each text is one name, or several with commas between."""
    holding = LockedTrajectories(ask)
    holding.lock([source.id])
    there = {spelling(alias) for alias in (*source.aliases, source.name)}
    there |= {spelling(label) for _, label in holding.labels(source.id)}
    labels: dict[str, str] = {}
    for text in texts:
        parts = [text] if spelling(text) in there else text.split(",")
        for part in map(str.strip, parts):
            if spelling(part) not in there:
                raise BadInput(
                    f"{source.id} has neither an alias nor an example called {part[:80]!r}"
                    f" (regraph techniques show {source.id})"
                )
            labels.setdefault(spelling(part), part)
    return tuple(labels.values())


def _undo_order(ask: Query, by_id: TechniquesById, number: int | None) -> Order:
    curations = log.read(ask)
    undone = log.to_undo(curations, number)
    record = log.record(ask, undone.number)
    return Order(
        "undo",
        reversal(record.change, by_id),
        f"undid {undone.number}: {undone.summary}",
        labels=undone.labels,
        undoes=undone.number,
        also=record.moves,
        but=record.stays,
    )


def _usage(ask: Query) -> tuple[TechniqueUsage, ...]:
    """The usage of all techniques, from the NEXT rows."""
    examples, tried, leaving = Counter[str](), Counter[str](), Counter[str]()
    for row in ask("transitions"):
        examples[row["target"]] += row["statistics"]["examples"]
        leaving[row["source"]] += row["statistics"]["examples"]
        tried[row["target"]] += row["statistics"]["tried"]
    techniques = vocabulary.known(ask)
    rows = ask("usage_labels", ids=[technique.id for technique in techniques], most=LABELS)
    labels = {row["technique"]: tuple(row["labels"]) for row in rows}
    return tuple(
        TechniqueUsage(t, examples[t.id], tried[t.id], leaving[t.id], labels.get(t.id, ()))
        for t in techniques
    )
