"""Builds trajectories and plans for the contract tests, with readable defaults."""

from collections.abc import Iterable, Sequence
from typing import Any

from regraph_kg.models.evaluation import Outcome
from regraph_kg.models.graph import MergePlan, Relabelled
from regraph_kg.models.target import Target
from regraph_kg.models.technique import Technique
from regraph_kg.models.trajectory import FailedStep, Measurement, Source, Step, Trajectory

H200, A100 = "NVIDIA H200", "NVIDIA A100"


def measured(device: str = H200, *, effect: float | None = 2.0, **fields: Any) -> Measurement:
    """A measurement: passed with this effect (speedup twice that), or failed when it is None."""
    outcome = Outcome.WRONG_ANSWER if effect is None else Outcome.PASSED
    times = {} if effect is None else {"before_seconds": effect, "serial_seconds": 2 * effect}
    defaults = {"toolchain": "nvcc 13", "evaluator": "1", "run": "r1", "outcome": outcome}
    return Measurement(device=device, seconds=1.0, **(defaults | times | fields))


def plan(
    path: str | Sequence[str] = "ab",
    *,
    problem: str = "saxpy",
    measurements: Iterable[Measurement] | None = None,
    failures: Iterable[FailedStep] = (),
    **fields: Any,
) -> MergePlan:
    """A trajectory through the techniques cuda/a, cuda/b, ..; every step has `measurements`.

    `fields` are those of Trajectory, and `code` (what its code starts with) and `model`.
    """
    target: Target = fields.get("target", "cuda")
    code, given = fields.pop("code", "int x;"), tuple(measurements or ())
    trajectory = Trajectory(
        **{
            "schema": 1,
            "target": target,
            "problem": problem,
            "serial": f"{code} // serial",
            "source": Source(model=fields.pop("model", "m"), created="2026-11-20T10:00:00Z"),
            "steps": tuple(
                Step(
                    label=f"Label {name}",
                    reasoning=f"why {name}",
                    detail=f"how {name}",
                    code=f"{code} // after {number} {name}",
                    measurements=given,
                )
                for number, name in enumerate(path)
            ),
            "failures": tuple(failures),
        }
        | fields
    )
    names = {*path, *(f.technique.split("/")[1] for f in trajectory.failures if f.technique)}
    return MergePlan(
        trajectory,
        tuple(Relabelled(f"Label {name}", f"{target}/{name}", "exact") for name in path),
        new=tuple(technique(name, target) for name in sorted(names)),
    )


def technique(name: str, target: Target = "cuda", **fields: Any) -> Technique:
    """A technique called Technique NAME."""
    return Technique(id=f"{target}/{name}", name=f"Technique {name}", target=target, **fields)


def failure(name: str = "b", after: int = 1, **fields: Any) -> FailedStep:
    """Technique `name` failed after `after` steps."""
    defaults = {"outcome": Outcome.CRASHED, "device": H200, "diagnosis": "signal 11"}
    return FailedStep(
        after_step=after, label=f"Label {name}", technique=f"cuda/{name}", **(defaults | fields)
    )


def again(trajectory: Trajectory) -> MergePlan:
    """A plan for an exported trajectory: its techniques are resolved already."""
    return MergePlan(
        trajectory,
        tuple(Relabelled(s.label, s.technique or "", "given") for s in trajectory.steps),
    )
