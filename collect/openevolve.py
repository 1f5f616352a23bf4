"""A source of steps: an evolution's program database, as OpenEvolve's checkpoints hold it.

The lineage of each of the best programs, from the first program on, is a trajectory. Read are
FOLDER/programs/*.json (id, parent_id, code, metrics, metadata.changes or changes_description,
prompts) of a checkpoint; of a run's folder, those of all its checkpoints, as later ones have lost
programs that earlier ones hold. Metrics choose lineages, nothing more: all is judged anew.

Not here: programs outside of one file; what an evolution's prompts said.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from regraph_kg.collect.steps import Proposals, ProposedStep, label_of
from regraph_kg.collect.unfit import unfit
from regraph_kg.errors import BadInput
from regraph_kg.models.run import Task
from regraph_kg.models.text import plain
from regraph_kg.models.trajectory import Source
from regraph_kg.search.prompts.fences import beside

LARGEST_PROGRAM = 8 * 2**20
"""Bytes of one program's file."""
SAID = 20_000
"""Characters of what was said of a change that are kept."""
LABEL = 80
"""Characters of what was said of a change that become its label."""


class EvolvedProgram(BaseModel):
    """One program of a database; fields that are not listed are of no use here."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: str = Field(min_length=1)
    code: str
    parent_id: str | None = None
    metrics: Mapping[str, Any] = {}
    metadata: Mapping[str, Any] = {}
    changes_description: str | None = None
    prompts: Mapping[str, Any] | None = None
    iteration_found: int = 0

    @property
    def score(self) -> float:
        """What an evolution ranks by: its combined score, else the mean of its metrics."""
        numbers = {name: float(one) for name, one in self.metrics.items() if _is_number(one)}
        if "combined_score" in numbers:
            return numbers["combined_score"]
        return sum(numbers.values()) / len(numbers) if numbers else -math.inf

    @property
    def changes(self) -> str:
        """What was said of the change that made it; "" for nothing."""
        said = self.changes_description or self.metadata.get("changes") or ""
        return plain(said).strip() if isinstance(said, str) else ""

    @property
    def reasoning(self) -> str:
        """What the model said beside its code, where prompts were logged."""
        for one in (self.prompts or {}).values():
            responses = one.get("responses") if isinstance(one, Mapping) else None
            if isinstance(responses, Sequence) and responses and isinstance(responses[0], str):
                return plain(beside(responses[0])).strip()
        return ""


@dataclass(slots=True)
class EvolvedLineage:
    """The lineage of one program as a source."""

    ref: str
    programs: tuple[EvolvedProgram, ...]
    """From the first one on."""
    notes: tuple[str, ...]
    origin: Source

    def source(self) -> Source:
        """The evolution's folder, by its name, and the program."""
        return self.origin

    def proposals(self) -> Proposals:
        """The programs, oldest first."""
        for one in self.programs:
            said = one.reasoning or one.changes
            label = label_of(one.changes.partition("\n")[0])[:LABEL].strip()
            label = label or ("initial program" if one.parent_id is None else "evolved change")
            detail = one.changes if said != one.changes else ""
            yield ProposedStep(label, one.code, said[:SAID], detail[:SAID])
        return "the program itself"


def read_lineages(folder: Path, best: int, task: Task, origin: Source) -> list[EvolvedLineage]:
    """The lineages of the `best` programs of an evolution, best first.

    Raises `BadInput` for a folder that holds none.
    """
    programs = _programs(folder)
    ranked = sorted(programs.values(), key=lambda one: (-one.score, -one.iteration_found, one.id))
    lineages: list[EvolvedLineage] = []
    notes: list[str] = []
    told: set[str] = set()
    for one in ranked:
        if len(lineages) == best:
            break
        if one.id in told:
            continue
        way, torn = _ancestors(one, programs)
        if torn:
            notes.append(f"program {plain(one.id)[:12]} is left out: {torn}")
            continue
        told |= {step.id for step in way}
        lineages.append(_lineage(folder, way, task, origin))
    if not lineages:
        raise BadInput(f"{folder}: no program whose ancestors are all there ({'; '.join(notes)})")
    lineages[0].notes = (*notes, *lineages[0].notes)
    return lineages


def _lineage(
    folder: Path, way: Sequence[EvolvedProgram], task: Task, origin: Source
) -> EvolvedLineage:
    last = way[-1]
    fit, notes = [], []
    for one in way:
        if (why := unfit(one.code, task.entry)) is None:
            fit.append(one)
        else:
            notes.append(f"program {plain(one.id)[:12]} is left out: {why}")
    name = folder.resolve().name
    return EvolvedLineage(
        ref=label_of(f"openevolve/{name}/{last.id}/{task.problem}-{task.target}"),
        programs=tuple(fit),
        notes=tuple(notes),
        origin=origin.model_copy(update={"run": label_of(f"openevolve {name} {last.id}")}),
    )


def _ancestors(
    last: EvolvedProgram, programs: Mapping[str, EvolvedProgram]
) -> tuple[list[EvolvedProgram], str]:
    """The way to a program from the first one, and what is wrong with it, if anything."""
    way, at = [last], last
    while at.parent_id is not None:
        if at.parent_id not in programs:
            return way, f"its ancestor {plain(at.parent_id)[:12]} is in no checkpoint"
        at = programs[at.parent_id]
        if at in way:
            return way, "it is its own ancestor"
        way.append(at)
    return way[::-1], ""


def _programs(folder: Path) -> dict[str, EvolvedProgram]:
    """Every program below `folder`, by its id; later checkpoints go first."""
    if not folder.is_dir():
        raise BadInput(f"{folder}: no such folder; give an OpenEvolve checkpoint or output folder")
    places = [folder, *sorted(folder.glob("checkpoints/*"), key=_number, reverse=True)]
    if not (folder / "programs").is_dir():
        places += sorted(folder.glob("checkpoint_*"), key=_number, reverse=True)
    found: dict[str, EvolvedProgram] = {}
    for place in places:
        for path in sorted(place.glob("programs/*.json")):
            one = _program(path)
            found.setdefault(one.id, one)
    if not found:
        raise BadInput(f"{folder}: no programs/*.json; give an OpenEvolve checkpoint's folder")
    return found


def _program(path: Path) -> EvolvedProgram:
    try:
        if path.stat().st_size > LARGEST_PROGRAM:
            raise BadInput(f"{path}: more than {LARGEST_PROGRAM >> 20} MiB; no program is as large")
        return EvolvedProgram.model_validate(json.loads(path.read_bytes()))
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror}; give a folder that can be read") from None
    except ValidationError as error:
        field = ".".join(map(str, error.errors()[0]["loc"])) or "program"
        raise BadInput(f"{path}: {field}: {error.errors()[0]['msg']}; not OpenEvolve's") from None
    except (ValueError, RecursionError):
        raise BadInput(f"{path}: not JSON; remove it if it is half-written") from None


def _number(checkpoint: Path) -> int:
    digits = checkpoint.name.rpartition("_")[2]
    return int(digits) if digits.isdecimal() else -1


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
