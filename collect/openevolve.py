"""A source of steps: an evolution's program database, as OpenEvolve's checkpoints hold it.

The lineage of each of the best programs, from the first program on, is a trajectory. Read are
FOLDER/programs/*.json (id, parent_id, code, metrics, metadata.changes or changes_description,
prompts) of a checkpoint; of a run's folder, those of all its checkpoints, as later ones have lost
programs that earlier ones hold. Metrics only choose lineages: every program is judged anew.

Not here: programs outside of one file; the evolution's prompts.
"""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from regraph_kg import regular
from regraph_kg.collect.steps import Proposals, ProposedStep, label_of, ref_of
from regraph_kg.collect.unfit import unfit
from regraph_kg.errors import BadInput, file_errors, first_mistake
from regraph_kg.models.prompt import PromptText
from regraph_kg.models.run import Task
from regraph_kg.models.text import plain
from regraph_kg.models.trajectory import Source
from regraph_kg.search.prompts.fences import without_blocks

LARGEST_PROGRAM = 8 * 2**20
"""Bytes of one program's file."""
MOST_NOTES = 5
"""Lines about omitted programs; the rest is counted."""
LABEL = 80
"""Characters of a change's description that become its label."""


class EvolvedProgram(BaseModel):
    """One program of a database; fields that are not listed are of no use here."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: str = Field(min_length=1)
    code: PromptText
    parent_id: str | None = None
    metrics: Mapping[str, Any] | None = None
    metadata: Mapping[str, Any] | None = None
    changes_description: str | None = None
    prompts: Mapping[str, Any] | None = None
    iteration_found: int | None = 0

    @property
    def score(self) -> float:
        """The evolution's rank: its combined score, else the mean of its metrics."""
        numbers = dict(_numbers(self.metrics or {}))
        if "combined_score" in numbers:
            return numbers["combined_score"]
        return sum(numbers.values()) / len(numbers) if numbers else -math.inf

    @property
    def changes(self) -> str:
        """Description of the change that made the program; "" for none."""
        changes = self.changes_description or (self.metadata or {}).get("changes") or ""
        return plain(changes).strip() if isinstance(changes, str) else ""

    @property
    def reasoning(self) -> str:
        """The model's text beside its code, where prompts were logged."""
        for prompt in (self.prompts or {}).values():
            responses = prompt.get("responses") if isinstance(prompt, Mapping) else None
            if isinstance(responses, Sequence) and responses and isinstance(responses[0], str):
                return plain(without_blocks(responses[0])).strip()
        return ""


@dataclass(slots=True)
class EvolvedLineage:
    """The lineage of one program as a source."""

    ref: str
    programs: tuple[EvolvedProgram, ...]
    """Oldest first."""
    notes: tuple[str, ...]
    origin: Source

    def source(self) -> Source:
        """The evolution's folder, by its name, and the program."""
        return self.origin

    def proposals(self) -> Proposals:
        """The programs, oldest first."""
        for program in self.programs:
            reasoning = program.reasoning or program.changes
            label = label_of(program.changes.partition("\n")[0])[:LABEL].strip()
            label = label or ("initial program" if program.parent_id is None else "evolved change")
            detail = program.changes if reasoning != program.changes else ""
            yield ProposedStep(label, program.code, reasoning, detail)
        return "the program itself"


def read_lineages(folder: Path, best: int, task: Task, origin: Source) -> list[EvolvedLineage]:
    """The lineages of the `best` programs of an evolution, best first.

    Raises `BadInput` for a folder that holds none.
    """
    programs, notes = _programs(folder)
    ranked = sorted(
        programs.values(),
        key=lambda program: (-program.score, -(program.iteration_found or 0), program.id),
    )
    lineages: list[EvolvedLineage] = []
    lost: dict[str, str] = {}
    covered: set[str] = set()
    for program in ranked:
        if len(lineages) == best:
            break
        if program.id in covered:
            continue
        lineage, torn = _ancestors(program, programs, lost)
        if torn:
            lost |= {step.id: torn for step in lineage}
            notes.append(f"program {_short(program.id)} is left out: {torn}")
            continue
        covered |= {step.id for step in lineage}
        lineages.append(_lineage(folder, lineage, task, origin))
    if len(notes) > MOST_NOTES:
        notes[MOST_NOTES:] = [f"{len(notes) - MOST_NOTES} more are left out"]
    if not lineages:
        raise BadInput(f"{folder}: no program whose ancestors are all there ({'; '.join(notes)})")
    lineages[0].notes = (*notes, *lineages[0].notes)
    return lineages


def _lineage(
    folder: Path, way: Sequence[EvolvedProgram], task: Task, origin: Source
) -> EvolvedLineage:
    last = way[-1]
    fit, notes = [], []
    for program in way:
        if (why := unfit(program.code, task.entry)) is None:
            fit.append(program)
        else:
            notes.append(f"program {_short(program.id)} is left out: {why}")
    name = folder.resolve().name
    return EvolvedLineage(
        ref=ref_of(f"openevolve/{name}/{last.id}/{task.problem}-{task.target}"),
        programs=tuple(fit),
        notes=tuple(notes),
        origin=origin.model_copy(update={"run": label_of(f"openevolve {name} {last.id}")}),
    )


def _ancestors(
    last: EvolvedProgram, programs: Mapping[str, EvolvedProgram], lost: Mapping[str, str]
) -> tuple[list[EvolvedProgram], str]:
    """The way to a program from the first one, and what is wrong with it, if anything.

    `lost` are programs of whose ways that is known, and what it is.
    """
    way, at = {last.id: last}, last
    while at.parent_id:
        if at.id in lost:
            return list(way.values()), lost[at.id]
        if at.parent_id not in programs:
            return list(way.values()), f"its ancestor {_short(at.parent_id)} is in no checkpoint"
        at = programs[at.parent_id]
        if at.id in way:
            return list(way.values()), "it is its own ancestor"
        way[at.id] = at
    return list(way.values())[::-1], ""


def _programs(folder: Path) -> tuple[dict[str, EvolvedProgram], list[str]]:
    """Every program below `folder`, by its id, later checkpoints first; and what cannot be read.

    A checkpoint may be half-written where the evolution still runs: earlier ones hold most of it.
    """
    if not folder.is_dir():
        raise BadInput(f"{folder}: no such folder; give an OpenEvolve checkpoint or output folder")
    places = [folder, *sorted(folder.glob("checkpoints/*"), key=_number, reverse=True)]
    if not (folder / "programs").is_dir():
        places += sorted(folder.glob("checkpoint_*"), key=_number, reverse=True)
    programs: dict[str, EvolvedProgram] = {}
    broken: list[str] = []
    for place in places:
        here: dict[str, Path] = {}
        for path in sorted(place.glob("programs/*.json")):
            try:
                program = _program(path)
            except BadInput as error:
                broken.append(f"left out: {error}")
                continue
            if program.id in here:
                raise BadInput(f"{path}: has the id of {here[program.id].name}; remove one of them")
            here[program.id] = path
            programs.setdefault(program.id, program)
    if not programs:
        raise BadInput(
            broken[0].removeprefix("left out: ")
            if broken
            else f"{folder}: no programs/*.json; give an OpenEvolve checkpoint's folder"
        )
    return programs, broken


def _program(path: Path) -> EvolvedProgram:
    with file_errors(path, "make it readable, or remove it"):
        content = regular.read_bytes(path, LARGEST_PROGRAM)
    try:
        return EvolvedProgram.model_validate(json.loads(content))
    except ValidationError as error:
        raise BadInput(f"{path}: {first_mistake(error, 'program')}; not OpenEvolve's") from None
    except (ValueError, RecursionError):
        raise BadInput(f"{path}: not JSON; remove it if it is half-written") from None


def _number(checkpoint: Path) -> int:
    digits = checkpoint.name.rpartition("_")[2]
    return int(digits) if digits.isdecimal() else -1


def _numbers(metrics: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """The metrics that are finite numbers."""
    for name, value in metrics.items():
        if isinstance(value, int | float) and not isinstance(value, bool):
            with suppress(OverflowError):  # a whole number may be larger than any other
                if math.isfinite(number := float(value)):
                    yield name, number


def _short(program: str) -> str:
    return plain(program)[:12]
