"""`regraph techniques mend`: changes of the vocabulary by a person, and their log.

Not here: proposals of the audit (audit.py).
"""

import getpass
import platform
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Literal

import typer

from regraph_kg import wiring
from regraph_kg.cli.answers import answered, tell
from regraph_kg.cli.completion import complete_technique
from regraph_kg.cli.parameters import Json, argument, option
from regraph_kg.cli.progress import watch
from regraph_kg.errors import BadInput
from regraph_kg.graph import Curator
from regraph_kg.models.curation import Curation, LabelDecision, Note, Part
from regraph_kg.runs.ingest import embed_new
from regraph_kg.settings import read_settings

CurationOrder = Callable[[Curator, Note], Curation]
CurationDeed = Literal["merge", "split", "rename", "describe", "keep", "drop", "undo", "accept"]


@dataclass(frozen=True, slots=True)
class CurationLog:
    """Who changed the vocabulary, and how."""

    curations: list[Curation]
    relabels: list[LabelDecision] | None
    """How ingests resolved names, with --relabels."""


ANSWERS = {"techniques mend": Curation | Sequence[Curation] | Sequence[str]}
"""A list of several undone or accepted; with --dry-run the commands."""

LONGEST = 120
"""Characters of a name or label that are printed."""
_OPTIONS: Mapping[CurationDeed, frozenset[str]] = {
    "merge": frozenset(),
    "split": frozenset({"--aliases", "--to", "--name", "--id", "--definition"}),
    "rename": frozenset({"--id"}),
    "describe": frozenset({"--definition", "--applies", "--hurts"}),
    "keep": frozenset({"--aliases"}),
    "drop": frozenset(),
    "undo": frozenset(),
    "accept": frozenset({"--dry-run"}),
}
"""Options of each deed besides --why, --who and --json."""
_WITH_REASON = ("merge", "split", "rename", "drop")
_WORDS: Mapping[CurationDeed, tuple[int, int | None, str]] = {
    "merge": (2, None, "the technique that stays, and those that become it"),
    "split": (1, 1, "one technique"),
    "rename": (2, 2, "a technique, and its new name"),
    "describe": (1, 1, "one technique"),
    "keep": (1, None, "techniques"),
    "drop": (1, 1, "one technique"),
    "undo": (0, None, "numbers of curations"),
    "accept": (1, None, "tokens of the audit"),
}
"""The least and most words of a deed, and their meaning."""


def mend(  # noqa: PLR0913 (a command's options)
    *,
    deed: Annotated[CurationDeed, argument("What to do; see above.")],
    words: Annotated[
        list[str] | None,
        argument(
            "Ids of techniques; of undo numbers, of accept tokens.",
            metavar="[ID...]",
            autocompletion=complete_technique,
        ),
    ] = None,
    aliases: Annotated[
        list[str] | None,
        option("split, keep: names; commas between, or repeated.", "--aliases", "--alias"),
    ] = None,
    to: Annotated[str | None, option("split: the technique that they go to.", metavar="ID")] = None,
    name: Annotated[
        str, option("split: of the new technique.", show_default="the first alias")
    ] = "",
    new_id: Annotated[
        str, option("split, rename: the new id.", "--id", show_default="by its name")
    ] = "",
    definition: Annotated[str, option("split, describe: what it is, in a sentence.")] = "",
    applies: Annotated[str, option("describe: when it applies, in a sentence.")] = "",
    hurts: Annotated[str, option("describe: when it does harm, in a sentence.")] = "",
    dry_run: Annotated[bool, option("accept: print what would be done.")] = False,
    why: Annotated[str, option("The reason, for whoever reads the log.")] = "",
    who: Annotated[str | None, option("Who decides.", show_default="you, at this machine")] = None,
    as_json: Json = False,
) -> None:
    """Change the vocabulary, logged and undoable; examples, failures and statistics go along.

    merge ID OTHER..: steps, names and ids of OTHER go to ID, and what comes later under them.
    split ID: --aliases, and exactly the examples that were so called, go to a new technique, or
    to the one of --to. rename ID NAME: the old name leads to it still. describe ID: relabelling
    and search go by it. keep ID..: they are right as they are, apart from each other, with these
    aliases. drop ID: no step or failure leads to it.

    undo [NUMBER..]: as if curations had not been made, the latest undone first; without a number
    the last one that holds. The undo of an undo makes the curation again.

    accept TOKEN..: what the audit proposes for pages or clusters, each a curation. Where the graph
    has changed since it was shown, a token is refused, and nothing is done.
    """
    options: dict[str, object] = {
        "--aliases": aliases,
        "--to": to,
        "--name": name,
        "--id": new_id,
        "--definition": definition,
        "--applies": applies,
        "--hurts": hurts,
        "--dry-run": dry_run,
    }
    _check(deed, words or [], options, why)
    if deed == "accept":
        from regraph_kg.cli.audit import accept  # noqa: PLC0415 (it imports this module)

        accept(words or [], who, why, dry_run=dry_run, as_json=as_json)
    elif deed == "undo":
        _undo(words or [], who, why, as_json=as_json)
    else:
        part = Part(name, new_id, definition)
        texts = {"definition": definition, "applies": applies, "hurts": hurts}
        curation = _curate(_order(deed, words or [], aliases or [], (to, part), texts), who, why)
        _tell(curation, as_json=as_json)


def _check(deed: CurationDeed, words: Sequence[str], typed: Mapping[str, object], why: str) -> None:
    """Raise `BadInput` for an option that does not belong to a deed, and for a missing one."""
    least, most, expected = _WORDS[deed]
    if len(words) < least or (most is not None and len(words) > most):
        raise BadInput(f"mend {deed}: give {expected}")
    alien = [option for option, value in typed.items() if value and option not in _OPTIONS[deed]]
    if alien:
        raise BadInput(f"mend {deed}: {alien[0]} is not for it")
    if deed in _WITH_REASON and not why:
        raise BadInput(f"mend {deed}: say why, for whoever reads the log: --why")
    if deed == "split" and not typed["--aliases"]:
        raise BadInput("mend split: say which names go: --aliases")
    if typed["--to"] and (typed["--name"] or typed["--id"] or typed["--definition"]):
        raise BadInput("--to names a technique that is there: leave --name, --id, --definition out")
    if deed == "describe" and not any(typed[option] for option in _OPTIONS["describe"]):
        raise BadInput(
            "say what the technique is (--definition), when it applies (--applies),"
            " or when it does harm (--hurts)"
        )


def _order(
    deed: CurationDeed,
    words: Sequence[str],
    aliases: Sequence[str],
    goal: tuple[str | None, Part],
    texts: Mapping[str, str],
) -> CurationOrder:
    """The order that a curator carries out."""
    first, (to, part) = words[0], goal
    orders: dict[str, CurationOrder] = {
        "merge": lambda curator, note: curator.merge(first, words[1:], note),
        "rename": lambda curator, note: curator.rename(
            first, words[-1], note, new_id=part.id or None
        ),
        "describe": lambda curator, note: curator.describe(first, note, **texts),
        "keep": lambda curator, note: curator.keep(words, note, labels=tuple(aliases)),
        "drop": lambda curator, note: curator.drop(first, note),
        "split": lambda curator, note: (
            curator.split(first, aliases, part, note)
            if to is None
            else curator.move(first, aliases, to, note)
        ),
    }
    return orders[deed]


def _undo(words: Sequence[str], who: str | None, why: str, *, as_json: bool) -> None:
    try:
        numbers: list[int | None] = [*sorted(map(int, words), reverse=True)] or [None]
    except ValueError:
        raise BadInput(
            "mend undo: give numbers of curations (regraph techniques show --log)"
        ) from None
    curations: list[Curation] = []
    try:
        for number in numbers:
            curations.append(_curate(partial(_undo_one, number), who, why))
            if not as_json:
                _tell(curations[-1], as_json=False)
    finally:
        if as_json and curations:
            tell(ANSWERS["techniques mend"], curations if len(numbers) > 1 else curations[0])


def _undo_one(number: int | None, curator: Curator, note: Note) -> Curation:
    return curator.undo(number, note)


def show_log(technique: str | None, *, relabels: bool, as_json: bool) -> None:
    """Print who changed the vocabulary, when, how and why; oldest first."""
    with open_curator() as curator:
        curations = [
            entry for entry in curator.log() if technique is None or technique in entry.techniques
        ]
        verdicts = [
            verdict
            for verdict in (curator.verdicts() if relabels else ())
            if technique is None or technique in (verdict.technique, verdict.runner_up)
        ]
    if answered(CurationLog, CurationLog(curations, verdicts if relabels else None), as_json):
        return
    for line in (*_log_lines(curations), *map(_verdict_line, verdicts)):
        typer.echo(line)
    if not curations and not verdicts:
        typer.echo("nothing has been curated")


def open_curator() -> "closing[Curator]":
    """The curator of the settings' graph."""
    return closing(wiring.open_curator(read_settings()))


def _curate(order: CurationOrder, who: str | None, why: str) -> Curation:
    note, settings = note_of(who, why), read_settings()
    with closing(wiring.open_curator(settings)) as curator:
        curation = order(curator, note)
    watch(embed_new(settings))  # examples that left the archive
    return curation


def _tell(curation: Curation, *, as_json: bool) -> None:
    if answered(Curation, curation, as_json):
        return
    typer.echo(f"curation {curation.number}: {legible(curation.summary)}")
    if curation.examples or curation.failures:
        typer.echo(
            f"{counted(curation.examples, 'example')} and"
            f" {counted(curation.failures, 'failure')} moved"
        )
    typer.echo(f"to take it back: regraph techniques mend undo {curation.number}")


def note_of(who: str | None, why: str) -> Note:
    """Who decides (by default this user), and why."""
    return Note(_user() if who is None else who, why)


def _user() -> str:
    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # a container without a user of that number
        user = "somebody"
    return f"{user} @ {platform.node() or 'somewhere'}"


def command(words: Iterable[str]) -> str:
    """A command as it is typed in a shell, quoted for any characters of a name."""
    return " ".join(map(_word, ("regraph", *words)))


def _word(word: str) -> str:
    if word.isprintable():
        return shlex.quote(word)
    escaped = "".join(_ansi_c(character) for character in word)
    return f"$'{escaped}'"


def _ansi_c(character: str) -> str:
    if character in "\\'":
        return f"\\{character}"
    if character.isprintable():
        return character
    return "".join(f"\\x{byte:02x}" for byte in character.encode("utf-8", "surrogatepass"))


def _log_lines(curations: Iterable[Curation]) -> Iterator[str]:
    for curation in curations:
        yield f"{curation.number}  {curation.created}  {legible(curation.who)}"
        examples = counted(curation.examples, "example")
        moved = f" ({examples}, {counted(curation.failures, 'failure')} moved)"
        yield f"   {legible(curation.summary)}" + (
            moved if curation.examples or curation.failures else ""
        )
        if curation.labels:
            yield f"   names: {', '.join(legible(label) for label in curation.labels)}"
        if curation.why:
            yield f"   why: {legible(curation.why)}"
        if curation.undone_by is not None:
            yield f"   undone by {curation.undone_by}"


def _verdict_line(row: LabelDecision) -> str:
    rival = f", then {row.runner_up} {row.runner_up_score or 0:.2f}" if row.runner_up else ""
    return (
        f"{row.created}  {legible(row.label)} -> {row.technique}"
        f" ({row.stage} {row.score:.2f}{rival})"
    )


def counted(count: int, noun: str) -> str:
    """A count with its noun: "1 example", "2 examples"."""
    return f"{count} {noun}" + ("" if count == 1 else "s")


def legible(text: str) -> str:
    """Text in one line of bounded length whose control characters cannot steer the terminal."""
    plain = "".join(char if char.isprintable() else "\ufffd" for char in text[: LONGEST + 1])
    return plain if len(plain) <= LONGEST else f"{plain[:LONGEST]}..."
