"""`regraph techniques merge, split, rename, describe, keep, drop, undo, log`: curation."""

import getpass
import platform
import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import Annotated

import typer

from regraph_kg import wiring
from regraph_kg.cli.answers import tell
from regraph_kg.cli.completion import complete_technique
from regraph_kg.cli.progress import watch
from regraph_kg.errors import BadInput
from regraph_kg.graph import Curator
from regraph_kg.models.curation import Curation, LabelDecision, Note, Part
from regraph_kg.runs.ingest import embed_new
from regraph_kg.settings import read_settings


@dataclass(frozen=True, slots=True)
class CurationLog:
    """Who changed the vocabulary, and how."""

    curations: list[Curation]
    relabels: list[LabelDecision] | None
    """How ingests resolved names, with --relabels."""


_ORDERS = ("merge", "split", "rename", "describe", "keep", "drop")
ANSWERS = {
    **{f"techniques {order}": Curation for order in _ORDERS},
    "techniques undo": Curation | Sequence[Curation],
    "techniques log": CurationLog,
}

Who = Annotated[str | None, typer.Option(help="Who decides.", show_default="you, at this machine")]
Why = Annotated[str, typer.Option(help="The reason, for whoever reads the log.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print as JSON.")]
Id = Annotated[
    str,
    typer.Argument(
        metavar="ID", help="Its id: regraph techniques list.", autocompletion=complete_technique
    ),
]

LONGEST = 120
"""Characters of a name or label that are printed."""


def merge(
    keep: Annotated[str, typer.Argument(metavar="ID", help="The technique that stays.")],
    others: Annotated[list[str], typer.Argument(metavar="OTHER...", help="Those that become it.")],
    why: Why,
    who: Who = None,
    as_json: AsJson = False,
) -> None:
    """Make several techniques one: examples, failures, statistics, names and ids of OTHER go to ID.

    What comes later under OTHER's id or names leads to ID, too.
    """
    _make(lambda curator, note: curator.merge(keep, others, note), who, why, as_json=as_json)


def split(  # noqa: PLR0913 (a command's options)
    technique: Id,
    aliases: Annotated[
        list[str],
        typer.Option(help="Aliases, or labels of examples, that go; commas between, or repeated."),
    ],
    why: Why,
    *,
    to: Annotated[
        str | None, typer.Option(metavar="ID", help="The technique that they go to.")
    ] = None,
    name: Annotated[
        str, typer.Option(help="Name of the new technique.", show_default="the first alias")
    ] = "",
    new_id: Annotated[
        str, typer.Option("--id", help="Id of the new technique.", show_default="by its name")
    ] = "",
    definition: Annotated[str, typer.Option(help="What the new technique is.")] = "",
    who: Who = None,
    as_json: AsJson = False,
) -> None:
    """Take names away from a technique, and with them exactly the examples that were so called.

    They go to a new technique, or to the one that --to names.
    """
    if to is not None and (name or new_id or definition):
        raise BadInput("--to names a technique that is there: leave --name, --id, --definition out")

    def order(curator: Curator, note: Note) -> Curation:
        if to is not None:
            return curator.move(technique, aliases, to, note)
        return curator.split(technique, aliases, Part(name, new_id, definition), note)

    _make(order, who, why, as_json=as_json)


def rename(
    technique: Id,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Its new name.")],
    why: Why,
    new_id: Annotated[str | None, typer.Option("--id", help="Its new id.")] = None,
    who: Who = None,
    as_json: AsJson = False,
) -> None:
    """Give a technique another name, and if --id another id; the old ones lead to it still."""

    def order(curator: Curator, note: Note) -> Curation:
        return curator.rename(technique, name, note, new_id=new_id)

    _make(order, who, why, as_json=as_json)


def describe(  # noqa: PLR0913, PLR0917 (a command's options)
    technique: Id,
    definition: Annotated[str, typer.Option(help="What it is, in a sentence.")] = "",
    applies: Annotated[str, typer.Option(help="When it applies, in a sentence.")] = "",
    hurts: Annotated[str, typer.Option(help="When it does harm, in a sentence.")] = "",
    why: Why = "",
    who: Who = None,
    as_json: AsJson = False,
) -> None:
    """Say what a technique is: relabelling and search go by it."""
    texts = {"definition": definition, "applies": applies, "hurts": hurts}
    if not any(texts.values()):
        raise BadInput(
            "say what the technique is (--definition), when it applies (--applies),"
            " or when it does harm (--hurts)"
        )

    def order(curator: Curator, note: Note) -> Curation:
        return curator.describe(technique, note, **texts)

    _make(order, who, why, as_json=as_json)


def keep(
    techniques: Annotated[
        list[str], typer.Argument(metavar="ID...", help="Techniques that are right as they are.")
    ],
    alias: Annotated[
        list[str] | None, typer.Option(help="An alias that is right, too; may be repeated.")
    ] = None,
    why: Why = "",
    who: Who = None,
    as_json: AsJson = False,
) -> None:
    """Say that techniques are right as they are: reviewed, apart from each other, with --alias."""

    def order(curator: Curator, note: Note) -> Curation:
        return curator.keep(techniques, note, labels=tuple(alias or ()))

    _make(order, who, why, as_json=as_json)


def drop(technique: Id, why: Why, who: Who = None, as_json: AsJson = False) -> None:
    """Take a technique away that no step or failure leads to."""
    _make(lambda curator, note: curator.drop(technique, note), who, why, as_json=as_json)


def undo(
    curations: Annotated[
        list[int] | None,
        typer.Argument(
            metavar="[NUMBER]...",
            help="Numbers of curations (regraph techniques log), the latest undone first.",
            show_default="the last one that holds",
        ),
    ] = None,
    why: Why = "",
    who: Who = None,
    as_json: AsJson = False,
) -> None:
    """Make it as if a curation had not been made; what came since then stays.

    Without a NUMBER, one undo after another walks back. The undo of an undo makes the curation
    again. What a later curation builds upon cannot be undone before that one.
    """
    numbers: list[int | None] = [*sorted(curations or (), reverse=True)] or [None]
    done: list[Curation] = []
    try:
        for number in numbers:
            done.append(_made(partial(_undo, number), who, why))
            if not as_json:
                _say(done[-1])
    finally:
        if as_json and done:
            tell(ANSWERS["techniques undo"], done if len(numbers) > 1 else done[0])


def _undo(number: int | None, curator: Curator, note: Note) -> Curation:
    return curator.undo(number, note)


def log(
    technique: Annotated[
        str | None, typer.Option(metavar="ID", help="Only what is about this technique.")
    ] = None,
    relabels: Annotated[
        bool, typer.Option("--relabels", help="Also how ingests resolved labels.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Print who changed the vocabulary, when, how and why; oldest first."""
    with open_curator() as curator:
        curations = [
            one for one in curator.log() if technique is None or technique in one.techniques
        ]
        verdicts = [
            one
            for one in (curator.verdicts() if relabels else ())
            if technique is None or technique in (one.technique, one.runner_up)
        ]
    if as_json:
        tell(CurationLog, CurationLog(curations, verdicts if relabels else None))
        return
    for line in (*_log_lines(curations), *map(_verdict_line, verdicts)):
        typer.echo(line)
    if not curations and not verdicts:
        typer.echo("nothing has been curated")


COMMANDS: tuple[Callable[..., None], ...] = (
    merge,
    split,
    rename,
    describe,
    keep,
    drop,
    undo,
    log,
)
"""Of `regraph techniques`."""


def open_curator() -> "closing[Curator]":
    """Curates the graph of the settings."""
    return closing(wiring.open_curator(read_settings()))


def _make(
    order: Callable[[Curator, Note], Curation], who: str | None, why: str, *, as_json: bool
) -> None:
    """Carry a curation out and say what it did."""
    done = _made(order, who, why)
    if as_json:
        tell(Curation, done)
    else:
        _say(done)


def _made(order: Callable[[Curator, Note], Curation], who: str | None, why: str) -> Curation:
    note, settings = note_of(who, why), read_settings()
    with closing(wiring.open_curator(settings)) as curator:
        done = order(curator, note)
    watch(embed_new(settings))  # what came back from the archive
    return done


def _say(done: Curation) -> None:
    typer.echo(f"curation {done.number}: {legible(done.summary)}")
    if done.examples or done.failures:
        typer.echo(
            f"{counted(done.examples, 'example')} and {counted(done.failures, 'failure')} moved"
        )
    typer.echo(f"to take it back: regraph techniques undo {done.number}")


def note_of(who: str | None, why: str) -> Note:
    """Who decides, this user if nobody is named, and why."""
    return Note(_user() if who is None else who, why)


def _user() -> str:
    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # a container without a user of that number
        user = "somebody"
    return f"{user} @ {platform.node() or 'somewhere'}"


def command(words: Iterable[str]) -> str:
    """What to type in a shell; also where a name holds quotes or control characters."""
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
    for one in curations:
        yield f"{one.number}  {one.created}  {legible(one.who)}"
        moved = f" ({counted(one.examples, 'example')}, {counted(one.failures, 'failure')} moved)"
        yield f"   {legible(one.summary)}" + (moved if one.examples or one.failures else "")
        if one.labels:
            yield f"   names: {', '.join(legible(label) for label in one.labels)}"
        if one.why:
            yield f"   why: {legible(one.why)}"
        if one.undone_by is not None:
            yield f"   undone by {one.undone_by}"


def _verdict_line(one: LabelDecision) -> str:
    rival = f", then {one.runner_up} {one.runner_up_score or 0:.2f}" if one.runner_up else ""
    return (
        f"{one.created}  {legible(one.label)} -> {one.technique}"
        f" ({one.stage} {one.score:.2f}{rival})"
    )


def counted(count: int, noun: str) -> str:
    """A number of things: "1 example", "2 examples"."""
    return f"{count} {noun}" + ("" if count == 1 else "s")


def legible(text: str) -> str:
    """Text in one line of bounded length whose control characters cannot steer the terminal."""
    plain = "".join(one if one.isprintable() else "\ufffd" for one in text[: LONGEST + 1])
    return plain if len(plain) <= LONGEST else f"{plain[:LONGEST]}..."
