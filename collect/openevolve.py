"""A source of steps: an evolution's program database, as OpenEvolve's checkpoints hold it.

The lineage of each of the best programs, from the first program on, is a trajectory. Read are
FOLDER/programs/*.json (id, parent_id, code, metrics, metadata.changes or changes_description,
prompts) of a checkpoint; of a run's folder, those of all its checkpoints, as later ones have lost
programs that earlier ones hold. Metrics only choose lineages: every program is judged anew.

Not here: programs outside of one file; the evolution's prompts.
"""

import json
import math
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from regraph_kg import regular
from regraph_kg.collect.judged_steps import MOST_STEPS, TrajectoryDraft, label_of, ref_of, step_of
from regraph_kg.errors import BadInput, file_errors, first_mistake
from regraph_kg.models.prompt import PromptText
from regraph_kg.models.run import Task
from regraph_kg.models.text import plain
from regraph_kg.models.trajectory import Source, Step
from regraph_kg.search.code.tokens import normalized
from regraph_kg.search.prompts.fences import without_blocks

LARGEST_PROGRAM = 8 * 2**20  # bytes of one program's file
LONGEST_CODE = 200_000  # characters; as many as a step may hold
MOST_NOTES = 5  # lines about omitted programs; the rest is counted
LABEL = 80  # characters of a change's description that become its label
_OWN_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"(?P<file>[^"\n]*)"', re.MULTILINE)


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
        numbers: dict[str, float] = {}
        for name, value in (self.metrics or {}).items():
            with suppress(OverflowError):  # a whole number may be larger than any float
                if isinstance(value, int | float) and math.isfinite(value):
                    numbers[name] = float(value)
        mean = sum(numbers.values()) / len(numbers) if numbers else -math.inf
        return numbers.get("combined_score", mean)

    def step(self) -> Step:
        """The program as a step: the change that made it, and what its model said beside it."""
        described = self.changes_description or (self.metadata or {}).get("changes")
        changes = plain(described).strip() if isinstance(described, str) else ""
        said = ""
        for prompt in (self.prompts or {}).values():  # only where the evolution logged prompts
            responses = prompt.get("responses") if isinstance(prompt, Mapping) else None
            if isinstance(responses, Sequence) and responses and isinstance(responses[0], str):
                said = plain(without_blocks(responses[0])).strip()
                break
        label = label_of(changes.partition("\n")[0])[:LABEL].strip()
        label = label or ("evolved change" if self.parent_id else "initial program")
        return step_of(label, self.code, said or changes, changes if said else "")


@dataclass(frozen=True, slots=True)
class EvolvedLineage:
    """The lineage of one program as a source."""

    ref: str
    programs: tuple[EvolvedProgram, ...]  # oldest first
    origin: Source  # the evolution's folder, by its name, and the program

    def propose(self, draft: TrajectoryDraft) -> str:
        """Have `draft` judge the programs, as far as a trajectory holds them."""
        draft.codes.add(normalized(draft.task.serial))
        for program in self.programs:
            if len(draft.steps) == MOST_STEPS:
                return f"{MOST_STEPS} steps: a trajectory holds no more"
            draft.take(program.step())
        return "the program itself"


def read_lineages(
    folder: Path, best: int, task: Task, origin: Source
) -> tuple[list[EvolvedLineage], list[str]]:
    """The lineages of the `best` programs of an evolution, best first; what is left out, in lines.

    Raises `BadInput` for a folder that holds none.
    """
    programs, notes = _programs(folder)
    name = folder.resolve().name
    lineages: list[EvolvedLineage] = []
    covered: set[str] = set()
    ranked = sorted(
        programs.values(), key=lambda one: (-one.score, -(one.iteration_found or 0), one.id)
    )
    for program in ranked:
        # A program on the way to a better one is told by that one's lineage.
        if len(lineages) == best or program.id in covered:
            continue
        way, torn = _ancestors(program, programs)
        covered |= {step.id for step in way}
        if torn:
            notes.append(f"program {_short(program.id)} is left out: {torn}")
            continue
        # Code that cannot be judged is no failed step: it says nothing about the technique.
        unfit = {step.id: why for step in way if (why := _unfit(step.code, task.entry))}
        notes += [f"program {_short(key)} is left out: {why}" for key, why in unfit.items()]
        lineages.append(
            EvolvedLineage(
                ref_of(f"openevolve/{name}/{program.id}/{task.problem}-{task.target}"),
                tuple(step for step in way if step.id not in unfit),
                origin.model_copy(update={"run": label_of(f"openevolve {name} {program.id}")}),
            )
        )
    if len(notes) > MOST_NOTES:
        notes[MOST_NOTES:] = [f"{len(notes) - MOST_NOTES} more are left out"]
    if not lineages:
        raise BadInput(f"{folder}: no program whose ancestors are all there ({'; '.join(notes)})")
    return lineages, notes


def _ancestors(
    last: EvolvedProgram, programs: Mapping[str, EvolvedProgram]
) -> tuple[list[EvolvedProgram], str]:
    """The way to a program from the first one, and what is wrong with it, if anything."""
    way, at = {last.id: last}, last
    # Some versions write an empty id for the first program.
    while at.parent_id:
        if at.parent_id in way:
            return list(way.values()), "it is its own ancestor"
        if at.parent_id not in programs:
            return list(way.values()), f"its ancestor {_short(at.parent_id)} is in no checkpoint"
        at = programs[at.parent_id]
        way[at.id] = at
    return list(way.values())[::-1], ""


def _programs(folder: Path) -> tuple[dict[str, EvolvedProgram], list[str]]:
    """Every program below `folder`, by its id, later checkpoints first; and what cannot be read.

    A checkpoint may be half-written where the evolution still runs: earlier ones hold most of it.
    """
    if not folder.is_dir():
        raise BadInput(f"{folder}: no such folder; give an OpenEvolve checkpoint or output folder")

    def number(checkpoint: Path) -> int:
        digits = checkpoint.name.rpartition("_")[2]
        return int(digits) if digits.isdecimal() else -1

    # An output folder and a checkpoint look alike to a user: both are searched.
    below = [*folder.glob("checkpoints/*"), *folder.glob("checkpoint_*")]
    paths = [
        path
        for place in [folder, *sorted(below, key=number, reverse=True)]
        for path in sorted(place.glob("programs/*.json"))
    ]
    if not paths:
        raise BadInput(f"{folder}: no programs/*.json; give an OpenEvolve checkpoint's folder")
    programs: dict[str, EvolvedProgram] = {}
    broken: list[str] = []
    for path in paths:
        try:
            with file_errors(path, "make it readable, or remove it"):
                content = regular.read_bytes(path, LARGEST_PROGRAM)
            program = EvolvedProgram.model_validate(json.loads(content))
        except BadInput as error:
            broken.append(f"left out: {error}")
        except ValidationError as error:
            broken.append(f"left out: {path}: {first_mistake(error, 'program')}; not OpenEvolve's")
        except (ValueError, RecursionError):
            broken.append(f"left out: {path}: not JSON; remove it if it is half-written")
        else:
            # The latest checkpoint's version of a program counts.
            programs.setdefault(program.id, program)
    return programs, broken


def _unfit(code: str, entry: str) -> str:
    """Why a program cannot be judged at all, in words: that is no failure of a step; else ""."""
    if not code.strip() or "\0" in code:
        return "it is empty, or no text"
    if len(code) > LONGEST_CODE:
        return f"it has more than {LONGEST_CODE} characters"
    if not re.search(rf"\b{re.escape(entry)}\s*\(", normalized(code)):
        return f"it does not define {entry}"
    if 'extern "C"' not in code:
        return f'it does not export {entry}: that takes extern "C"'
    if (include := _OWN_INCLUDE.search(code)) is not None:
        return f'it includes "{plain(include["file"])}", and a candidate is one file'
    return ""


def _short(program: str) -> str:
    return plain(program)[:12]
