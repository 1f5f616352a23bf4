"""BoltCurator: changes that a person makes to the vocabulary, each one write transaction.

A curation is planned (`changes`, `undo`), its steps go over to other techniques (`transfer`), and
it is logged with all it takes to undo it (`log`). One is at work at a time: the graph's stamp is
their lock. A technique that another writer teaches a name meanwhile begins it anew.
"""

import secrets
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from regraph_kg.backends import edges
from regraph_kg.backends.bolt import Bolt, CommitUnknown, Overtaken, Query
from regraph_kg.backends.curation import changes, log
from regraph_kg.backends.curation.changes import TechniquesById
from regraph_kg.backends.curation.log import Places, Record
from regraph_kg.backends.curation.transfer import LockedTrajectories, TransferScope
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
    """A curation that is about to be made."""

    kind: CurationKind
    change: Change
    summary: str
    labels: tuple[str, ...] = ()
    undoes: int | None = None
    also: tuple[Places, ...] = ()
    """Per transfer: places that go over whatever their label."""
    but: tuple[Places, ...] = ()
    """Per transfer: places that stay whatever their label."""
    leaves: bool = False
    """Whether something must be left where it takes from."""


class BoltCurator:
    """Curation behind a Bolt connection; `graph.Curator` is the contract."""

    def __init__(self, bolt: Bolt) -> None:
        """Use `bolt`, and close it with `close`."""
        self._bolt = bolt

    def merge(self, keep: str, others: Sequence[str], note: Note) -> Curation:
        """See `Curator`."""

        def order(ask: Query, known: TechniquesById) -> Order:
            change = changes.merged(known, keep, others)
            gone = " and ".join(technique.id for technique in change.techniques[1:])
            return Order("merge", change, f"merged {gone} into {keep}")

        return self._make(order, note)

    def split(self, technique: str, labels: Sequence[str], part: Part, note: Note) -> Curation:
        """See `Curator`."""

        def order(ask: Query, known: TechniquesById) -> Order:
            source = changes.find(known, technique)
            given = _labels(ask, source, labels)
            made = changes.described(
                source.target,
                part.name or given[0][:1].upper() + given[0][1:],
                id=part.id,
                definition=part.definition,
                created=_now(),
            )
            change = changes.split(known, technique, given, made)
            return Order(
                "split",
                change,
                f"split {change.transfers[0].heir} off {technique}",
                labels=given,
                leaves=True,
            )

        return self._make(order, note)

    def move(self, technique: str, labels: Sequence[str], to: str, note: Note) -> Curation:
        """See `Curator`."""

        def order(ask: Query, known: TechniquesById) -> Order:
            given = _labels(ask, changes.find(known, technique), labels)
            change = changes.moved(known, technique, given, to)
            said = f"moved {len(given)} names from {technique} to {to}"
            return Order("split", change, said, labels=given, leaves=True)

        return self._make(order, note)

    def rename(
        self, technique: str, name: str, note: Note, *, new_id: str | None = None
    ) -> Curation:
        """See `Curator`."""

        def order(ask: Query, known: TechniquesById) -> Order:
            change = changes.renamed(known, technique, name, new_id)
            said = f"renamed {technique} {known[technique].name!r} to {name!r}"
            if change.transfers:
                said += f", now {change.transfers[0].heir}"
            return Order("rename", change, said)

        return self._make(order, note)

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
        given = {"definition": definition, "applies": applies, "hurts": hurts}

        def order(ask: Query, known: TechniquesById) -> Order:
            change = changes.explained(known, technique, given)
            return Order("describe", change, f"described {technique}")

        return self._make(order, note)

    def drop(self, technique: str, note: Note) -> Curation:
        """See `Curator`."""

        def order(ask: Query, known: TechniquesById) -> Order:
            change = changes.dropped(known, technique)
            holding = LockedTrajectories(ask)
            holding.take([technique])
            if here := len(holding.before):
                raise BadInput(
                    f"{here} trajectories go to {technique}: merge it into another technique"
                    " instead (regraph techniques mend merge)"
                )
            return Order("drop", change, f"dropped {technique}")

        return self._make(order, note)

    def keep(
        self, techniques: Sequence[str], note: Note, *, labels: Sequence[str] = ()
    ) -> Curation:
        """See `Curator`."""

        def order(ask: Query, known: TechniquesById) -> Order:
            change = changes.kept(known, techniques)
            for label in labels:
                if not any(label in known[technique].aliases for technique in techniques):
                    raise BadInput(f"{label[:80]!r} is no alias of {' or '.join(techniques)}")
            said = f"kept {' apart from '.join(dict.fromkeys(techniques))}"
            return Order("keep", change, said, labels=tuple(labels))

        return self._make(order, note)

    def undo(self, number: int | None, note: Note) -> Curation:
        """See `Curator`."""
        return self._make(lambda ask, known: _undoing(ask, known, number), note)

    def log(self) -> tuple[Curation, ...]:
        """See `Curator`."""
        return self._bolt.read(log.read)

    def verdicts(self) -> tuple[LabelDecision, ...]:
        """See `Curator`."""
        return self._bolt.read(log.verdicts)

    def usage(self) -> tuple[TechniqueUsage, ...]:
        """See `Curator`."""
        return self._bolt.read(_usage)

    def close(self) -> None:
        """See `Curator`."""
        self._bolt.close()

    def _make(self, order: Callable[[Query, TechniquesById], Order], note: Note) -> Curation:
        if not 0 < len(note.who) <= LONGEST_WHO or len(note.why) > LONGEST_WHY:
            raise BadInput(
                f"who is 1 to {LONGEST_WHO} characters, why at most {LONGEST_WHY}: shorten --why"
            )

        token = secrets.token_hex(16)

        def work(ask: Query) -> Curation:
            ask("lock_stamp")
            return log.made_by(ask, token) or _carry_out(ask, order(ask, _known(ask)), note, token)

        try:
            return self._bolt.write(work)
        except CommitUnknown as error:
            raise StoreError(f"{error}; regraph techniques show --log says which") from None


def _known(ask: Query) -> TechniquesById:
    """All techniques, by id."""
    found = (Technique.model_validate(row["technique"]) for row in ask("all_techniques"))
    return {technique.id: technique for technique in found}


def _carry_out(ask: Query, order: Order, note: Note, token: str) -> Curation:
    """Do it, log it; by the token, whoever tries again knows that it is done."""
    change = order.change
    holding = LockedTrajectories(ask)
    holding.take(one.source for one in change.transfers)
    moves: list[Places] = []
    for index, transfer in enumerate(change.transfers):
        also, but = (some[index] if some else frozenset() for some in (order.also, order.but))
        places = holding.chosen(TransferScope(transfer, also, but)).difference(*moves)
        holding.lead(places, transfer.heir)
        moves.append(places)
    if order.leaves and moves[0] and moves[0] == holding.at(change.transfers[0].source):
        raise BadInput(
            f"nothing would be left of {change.transfers[0].source}: rename or merge it instead"
        )
    stays = tuple(_stays(ask, change, transfer) for transfer in change.transfers)
    _hold(ask, change, holding.touched())
    _write_techniques(ask, change)
    holding.write()
    ask(
        "curate_delete",
        ids=[technique.id for technique in change.techniques if technique.after is None],
    )
    known = log.read(ask)
    at = [place.at for places in moves for place in places]
    curation = Curation(
        number=1 + max((one.number for one in known), default=0),
        kind=order.kind,
        who=note.who,
        why=note.why,
        created=_now(),
        summary=order.summary,
        techniques=tuple(technique.id for technique in change.techniques),
        labels=order.labels,
        examples=sum(isinstance(one, int) for one in at),
        failures=sum(isinstance(one, str) for one in at),
        undoes=order.undoes,
    )
    log.write(ask, curation, Record(change, tuple(moves), stays, token))
    return curation


def _hold(ask: Query, change: Change, pairs: Collection[Pair]) -> None:
    """Lock these pairs and techniques; begin anew if somebody has changed what is to be changed."""
    edges.hold(ask, pairs)
    ends = {end for pair in pairs for end in pair}
    ask("lock_techniques", ids=sorted(ends.union(technique.id for technique in change.techniques)))
    known = _known(ask)
    if any(known.get(technique.id) != technique.before for technique in change.techniques):
        raise Overtaken


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _stays(ask: Query, change: Change, transfer: Transfer) -> Places:
    """What is at the heir already under names that an undo would take for the source's."""
    before = {technique.id: technique.before for technique in change.techniques}
    if before[transfer.heir] is None:
        return frozenset()
    names = transfer.names
    if names is None:
        source = before[transfer.source]
        names = frozenset(map(spelling, changes.names(source))) if source else frozenset()
    holding = LockedTrajectories(ask)
    holding.look([transfer.heir])
    return holding.called(transfer.heir, names)


def _write_techniques(ask: Query, change: Change) -> None:
    after = sorted(
        (technique.after for technique in change.techniques if technique.after),
        key=lambda one: one.id,
    )
    rows = [{"id": one.id, "properties": one.model_dump(exclude={"id"})} for one in after]
    if rows:
        ask("curate_techniques", rows=rows)
        ask("label_techniques", ids=[row["id"] for row in rows])


def _labels(ask: Query, source: Technique, given: Sequence[str]) -> tuple[str, ...]:
    """The names that `given` means: each as a whole, or as several with commas between."""
    holding = LockedTrajectories(ask)
    holding.take([source.id])
    there = {spelling(alias) for alias in (*source.aliases, source.name)}
    there |= {spelling(label) for _, label in holding.labels(source.id)}
    found: dict[str, str] = {}
    for text in given:
        parts = [text] if spelling(text) in there else text.split(",")
        for part in map(str.strip, parts):
            if spelling(part) not in there:
                raise BadInput(
                    f"{source.id} has neither an alias nor an example called {part[:80]!r}"
                    f" (regraph techniques show {source.id})"
                )
            found.setdefault(spelling(part), part)
    return tuple(found.values())


def _undoing(ask: Query, known: TechniquesById, number: int | None) -> Order:
    curations = log.read(ask)
    undone = log.to_undo(curations, number)
    record = log.record(ask, undone.number)
    return Order(
        "undo",
        reversal(record.change, known),
        f"undid {undone.number}: {undone.summary}",
        labels=undone.labels,
        undoes=undone.number,
        also=record.moves,
        but=record.stays,
    )


def _usage(ask: Query) -> tuple[TechniqueUsage, ...]:
    rows = ask("usage")
    ids = [row["technique"]["id"] for row in rows]
    labels = {
        row["technique"]: tuple(row["labels"]) for row in ask("usage_labels", ids=ids, most=LABELS)
    }
    return tuple(
        TechniqueUsage(
            Technique.model_validate(row["technique"]),
            row["examples"],
            row["tried"],
            row["leaving"],
            labels.get(row["technique"]["id"], ()),
        )
        for row in rows
    )
