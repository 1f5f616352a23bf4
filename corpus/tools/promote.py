"""Moves what is measured of corpus/queue into the starter graph: python -m corpus.tools.promote.

A trajectory ends before its first step that did not pass by the newest judge that measured it; that
step is then an attempt that failed. A technique of the queue goes along once steps of two problems
show it, with its judged names (corpus/relabel/next); a trajectory with a step of any other waits.
A problem goes along with its first trajectory; those that wait find it there. --unmeasured: all
that is there, to try what follows from it. Measurements of the starter graph say anew whether
today's preconditions rule them out: run it after a change of these. Prints what stays.
"""

import argparse
import json
import shutil
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from corpus.tools.measure import marked, read_trajectories
from regraph_kg.models.evaluation import Outcome, code_hash
from regraph_kg.models.technique import Technique
from regraph_kg.models.trajectory import FailedStep, Measurement, Step, Trajectory, standing
from regraph_kg.runs.learn import write_lines

CORPUS = Path(__file__).parents[1]
QUEUE = CORPUS / "queue"
LEAST_PROBLEMS = 2
"""That show a technique by a measured step."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--unmeasured", action="store_true")
    unmeasured = parser.parse_args().unmeasured
    queued = {path: read_trajectories(path) for path in sorted(QUEUE.glob("*/*.jsonl"))}
    measured = {path: [_passed(one, unmeasured) for one in ours] for path, ours in queued.items()}
    new = {one["id"]: one for one in json.loads((QUEUE / "techniques.json").read_text())}
    old = {one["id"] for one in json.loads((CORPUS / "techniques.json").read_text())}
    taken, ready = set(new), measured
    while True:  # what waits for one technique shows another no more
        ready = {path: [_known(one, old | taken) for one in ours] for path, ours in ready.items()}
        shown = _shown(one for ours in ready.values() for one in ours if one)
        still = {name for name in taken if len(shown[name]) >= LEAST_PROBLEMS}
        if still == taken:
            break
        taken = still
    # Only what is decided is moved: a kill before this leaves both sides as they were.
    for path, ours in queued.items():
        _move(path, ours, ready[path])
    _techniques(new, taken)
    _labels(old | taken)
    _mark()
    for name in sorted(set(new) - taken):
        print(f"{name}: fewer than {LEAST_PROBLEMS} problems show it")
    for path in sorted(QUEUE.glob("*/*.jsonl")):
        for one in read_trajectories(path):
            print(f"{one.ref or one.id}: not all measured, or its first step is not to be had")


def _passed(trajectory: Trajectory, unmeasured: bool) -> Trajectory | None:
    """The trajectory up to its first step that did not pass; None where one was not measured."""
    for number, step in enumerate(trajectory.steps):
        figures = standing(step.measurements)
        # a step that nobody measured may be slow or wrong
        if not figures and not unmeasured:
            return None
        failed = [one for one in figures if not one.outcome.is_right]
        if failed:
            return _cut(trajectory, number, _attempt(step, number, failed[-1]))
        if all(one.outcome is not Outcome.PASSED for one in figures) and not unmeasured:
            return None
    return trajectory


def _attempt(step: Step, number: int, measurement: Measurement) -> FailedStep:
    return FailedStep(
        after_step=number,
        label=step.label,
        technique=step.technique,
        outcome=measurement.outcome,
        diagnosis=measurement.diagnosis,
        code_hash=code_hash(step.code),
        code=step.code,
        device=measurement.device,
    )


def _cut(trajectory: Trajectory, count: int, *more: FailedStep) -> Trajectory | None:
    """Its first steps, with what failed up to there; None where no step is left."""
    if not count:
        return None
    failures = tuple(one for one in trajectory.failures if one.after_step <= count)
    steps = {"steps": trajectory.steps[:count], "failures": (*failures, *more)}
    return trajectory.model_copy(update=steps)


def _known(trajectory: Trajectory | None, known: set[str]) -> Trajectory | None:
    """Without attempts of an unknown technique; None where a step is of such a one."""
    if trajectory is None or any(step.technique not in known for step in trajectory.steps):
        return None
    failures = tuple(one for one in trajectory.failures if one.technique in known)
    return trajectory.model_copy(update={"failures": failures})


def _shown(trajectories: Iterable[Trajectory]) -> dict[str, set[str]]:
    """The problems whose steps show each technique; those of the starter graph, too."""
    shown = defaultdict[str, set[str]](set)
    old = [
        one for path in (CORPUS / "trajectories").glob("*.jsonl") for one in read_trajectories(path)
    ]
    for trajectory in (*old, *trajectories):
        for step in trajectory.steps:
            shown[step.technique or ""].add(trajectory.problem)
    return shown


def _move(path: Path, queued: Sequence[Trajectory], ready: Sequence[Trajectory | None]) -> None:
    """Add what is ready to the starter graph; the file goes once all of it is there."""
    moved = [one for one in ready if one]
    if not moved:
        return
    place = CORPUS / "problems" / path.parent.name
    place.mkdir(exist_ok=True)
    for file in ("problem.toml", "serial.cpp", "inputs.py"):
        if (path.parent / file).exists():
            shutil.move(path.parent / file, place / file)
    target = CORPUS / "trajectories" / f"{path.parent.name}.{path.stem}.jsonl"
    write_lines(target, [*(read_trajectories(target) if target.exists() else []), *moved])
    rest = [one for one, cut in zip(queued, ready, strict=True) if cut is None]
    if rest:
        write_lines(path, rest)
        return
    path.unlink()
    if not list(path.parent.glob("*.jsonl")):
        shutil.rmtree(path.parent)


def _techniques(new: dict[str, dict[str, Any]], taken: set[str]) -> None:
    old = json.loads((CORPUS / "techniques.json").read_text(encoding="utf-8"))
    every = sorted([*old, *(new[name] for name in taken)], key=lambda one: one["id"])
    _dump(CORPUS / "techniques.json", every)
    _dump(QUEUE / "techniques.json", [one for name, one in new.items() if name not in taken])


def _labels(known: set[str]) -> None:
    """The judged names and clusters of these techniques take the place of those before them."""
    for path in sorted((CORPUS / "relabel" / "next").glob("*.jsonl")):
        field = "vocabulary" if path.name.startswith("clusters") else "technique"
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        kept = [line for line in lines if json.loads(line)[field] in {None, *known}]
        (CORPUS / "relabel" / path.name).write_text("".join(kept), encoding="utf-8")


def _mark() -> None:
    """Measurements and failures say whether today's preconditions rule out the code before."""
    text = (CORPUS / "techniques.json").read_text(encoding="utf-8")
    vocabulary = {one.id: one for one in TypeAdapter(list[Technique]).validate_json(text)}
    for folder in ("trajectories", "collected"):
        for path in sorted((CORPUS / folder).glob("*.jsonl")):
            write_lines(path, [marked(one, vocabulary) for one in read_trajectories(path)])


def _dump(path: Path, techniques: Sequence[dict[str, Any]]) -> None:
    path.write_text(json.dumps(techniques, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
