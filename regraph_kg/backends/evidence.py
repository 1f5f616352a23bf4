"""What the graph holds of a trajectory: a (:Trajectory), its (:Steps), and its TRANSITIONs.

The (:Trajectory) has provenance, path, and measurements and failures as JSON; the (:Steps) has the
texts of all steps, which no writer changes. A TRANSITION repeats a step for readers (`example`).
A step's measurements are ordered by time.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from pydantic import TypeAdapter

from regraph_kg.cpp.kinds import kind_of
from regraph_kg.models.evaluation import Outcome
from regraph_kg.models.graph import UNTIMED, MergePlan
from regraph_kg.models.trajectory import (
    FailedStep,
    Measurement,
    Source,
    Trajectory,
    judge_version,
    standing,
)

Measurements = tuple[Measurement, ...]  # one step's measurements, oldest first (`in_order`)

_STEP = TypeAdapter(Measurements)
_STEPS = TypeAdapter(tuple[Measurements, ...])
_FAILURES = TypeAdapter(tuple[FailedStep, ...])
_SOURCE = set(Source.model_fields) - {"learned"}
_CODE = {"__all__": {"code"}}  # a failure's code, which the (:Failure) nodes hold
_PROVENANCE = ("model", "licence", "prompt_hash", "created")
"""Properties that a TRANSITION repeats of its trajectory."""
_TEXTS = {"label": "labels", "reasoning": "reasonings", "detail": "details", "code": "codes"}
"""A step's texts, and the lists of (:Steps) that hold them."""


class Pair(NamedTuple):
    source: str
    target: str

    @property
    def id(self) -> str:
        """Its two ids, with a space between."""
        return f"{self.source} {self.target}"

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> "Pair":
        """The pair of a row that names its ends."""
        return cls(row["source"], row["target"])


@dataclass(frozen=True, slots=True)
class Evidence:
    """One trajectory's contribution to the statistics."""

    problem: str
    path: tuple[str, ...]  # technique ids from the start on
    measurements: tuple[Measurements, ...]  # one entry per step
    failures: tuple[FailedStep, ...]  # with resolved techniques
    learner: str | None = None  # the model that it was learned from; None for a given one
    kind: str = ""  # of its serial code
    transforms: tuple[str, ...] = ()  # of each step the one that made it, "" for none; () for all

    @classmethod
    def of(cls, plan: MergePlan) -> "Evidence":
        """A plan's evidence; a measurement or failure given twice counts once."""
        # A plan without labels of failures has their techniques in the trajectory itself.
        labels = [label.technique for label in plan.failed_labels]
        failures = plan.trajectory.failures
        if labels:
            failures = tuple(
                failure.model_copy(update={"technique": technique})
                for failure, technique in zip(failures, labels, strict=True)
            )
        steps, learner = len(plan.trajectory.steps), plan.trajectory.source.learner
        kind = kind_of(plan.trajectory.serial)
        made = tuple(step.transform for step in plan.trajectory.steps)
        made = made if any(made) else ()
        nothing = cls(plan.trajectory.problem, plan.path(), ((),) * steps, (), learner, kind, made)
        return nothing.plus(tuple(step.measurements for step in plan.trajectory.steps), failures)

    @classmethod
    def read(cls, node: Mapping[str, Any]) -> "Evidence":
        """A node's evidence."""
        return cls(
            node["problem"],
            tuple(node["path"]),
            tuple(map(in_order, _STEPS.validate_json(node["measurements"]))),
            _FAILURES.validate_json(node["failures"]),
            node.get("learner"),
            node.get("kind") or "",
            tuple(node.get("transforms") or ()),
        )

    def plus(
        self, measurements: tuple[Measurements, ...], failures: tuple[FailedStep, ...]
    ) -> "Evidence":
        """The evidence with the measurements whose key is new to their step, and new failures."""
        steps = []
        for old, new in zip(self.measurements, measurements, strict=True):
            # The first of a key stays, so that a sender cannot change what another one measured.
            by_key = {measurement.key: measurement for measurement in old}
            for measurement in new:
                by_key.setdefault(measurement.key, measurement)
            steps.append(in_order(by_key.values()))
        tried = {failure.key: failure for failure in self.failures}
        for failure in failures:
            tried.setdefault(failure.key, failure)
        return replace(self, measurements=tuple(steps), failures=tuple(tried.values()))

    @property
    def pairs(self) -> list[Pair]:
        """The pairs of its steps, in order."""
        return list(map(Pair, self.path, self.path[1:]))

    @property
    def failed(self) -> list[tuple[FailedStep, Pair]]:
        """Its failures that have a technique, with their pairs."""
        return [
            (failure, Pair(self.path[failure.after_step], failure.technique))
            for failure in self.failures
            if failure.technique is not None
        ]

    def made_by(self, step: int) -> str:
        """The transform that made a step, from 0; "" for none."""
        return self.transforms[step] if self.transforms else ""

    def measured(self) -> int:
        return sum(len(step) for step in self.measurements)

    def stored(self) -> dict[str, Any]:
        """Measurements and failures as the node holds them; `effects` are for people."""
        return {
            "measurements": _STEPS.dump_json(self.measurements).decode(),
            "failures": _FAILURES.dump_json(self.failures, exclude=_CODE).decode(),
            "effects": [
                next((m.effect for m in standing(measured)[-1:] if m.effect), UNTIMED)
                for measured in self.measurements
            ],
        }


def node(trajectory: Trajectory, key: str, evidence: Evidence) -> dict[str, Any]:
    """Properties of the (:Trajectory) node with id `key`; nulls are left out by the store."""
    return {
        "id": key,
        "ref": trajectory.ref,
        "problem": trajectory.problem,
        "target": trajectory.target,
        **trajectory.source.model_dump(include=_SOURCE),
        "learner": evidence.learner,
        "kind": evidence.kind or None,
        "transforms": list(evidence.transforms) or None,
        "steps": len(trajectory.steps),
        "path": list(evidence.path),
        **evidence.stored(),
    }


def steps_node(plan: MergePlan, key: str) -> dict[str, Any]:
    """Properties of the (:Steps) node of a plan's trajectory, whose id is `key`: a list a text."""
    steps, stages = plan.trajectory.steps, [label.stage for label in plan.labels]
    texts = {many: [getattr(step, one) for step in steps] for one, many in _TEXTS.items()}
    return {"id": key, "serial": plan.trajectory.serial, "stages": stages, **texts}


def example(
    node: Mapping[str, Any],
    steps: Mapping[str, Any],
    number: int,
    evidence: Evidence,
    facts: Sequence[Sequence[str]] = (),
) -> dict[str, Any]:
    """Properties of the TRANSITION of step `number`, from 1; the store leaves out nulls."""
    at = number - 1
    made = evidence.made_by(at) or None  # believed where nobody was asked for `facts`
    return {
        "id": f"{node['id']}/{number}",
        "trajectory": node["id"],
        "step": number,
        "problem": node["problem"],
        "before": (steps["codes"][at - 1] if at else steps["serial"]) or None,
        "after": steps["codes"][at] or None,
        "reasoning": steps["reasonings"][at],
        "detail": steps["details"][at],
        "original_label": steps["labels"][at],
        "relabel_stage": steps["stages"][at],
        "learner": node.get("learner"),
        "transform": made,
        "applied_by": list(facts[at] if facts else filter(None, [made])) or None,
        **{name: node[name] for name in _PROVENANCE},
        **latest(evidence.measurements[at]),
    }


def trajectory(
    node: Mapping[str, Any], steps: Mapping[str, Any], codes: Mapping[str, str]
) -> Trajectory:
    """Read a trajectory back from its node, its (:Steps) and failed code.

    `codes` are those of its (:Failure) nodes that keep one, by node id.
    """
    evidence = Evidence.read(node)
    return Trajectory.model_validate(
        {
            "schema": 1,
            "ref": node.get("ref"),
            "target": node["target"],
            "problem": node["problem"],
            "serial": steps["serial"],
            "source": {name: node[name] for name in _SOURCE}
            | {"learned": evidence.learner is not None},
            "steps": [
                {one: steps[many][at] for one, many in _TEXTS.items()}
                | {"technique": evidence.path[at + 1], "measurements": measured}
                | {"transform": evidence.made_by(at)}
                for at, measured in enumerate(evidence.measurements)
            ],
            "failures": tuple(
                failure.model_copy(update={"code": codes.get(f"{node['id']}/{failure.key}", "")})
                for failure in evidence.failures
            ),
        }
    )


def in_order(measured: Iterable[Measurement]) -> Measurements:
    """The measurements by time, the latest last; those of unknown time by judge and run."""
    # Not by arrival: the figures must not depend on the order of ingests. No two have one key.
    return tuple(sorted(measured, key=lambda m: (m.time, judge_version(m), m.run, m.key)))


def latest(measured: Measurements) -> dict[str, Any]:
    """The properties of a TRANSITION that its measurements decide."""
    # An older judge's figures stay in the JSON, and decide nothing.
    counted = standing(measured)
    last = counted[-1] if counted else None
    effects: dict[str, float] = {}
    for m in counted:  # the later ones last, so that a device has its latest effect
        if m.outcome is Outcome.PASSED:
            effects[m.device] = m.effect or effects.get(m.device, UNTIMED)
    effects = dict(sorted(effects.items()))
    return {
        "verified": bool(effects),
        "verified_on": list(effects),
        "effects": list(effects.values()),
        "outcome": last and last.outcome.value,
        "speedup": last and last.speedup and float(f"{last.speedup:.4g}"),  # for the eye
        "effect": last and last.effect,
        "device": last and last.device,
        "toolchain": last and last.toolchain,
        "measurements": _STEP.dump_json(measured).decode(),
    }
