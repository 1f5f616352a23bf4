"""Steps of a graph as examples for supervised fine-tuning (SFT) of a model, a line each.

A line has `messages`, a question and its answer as chat models are trained on them, and fields for
a selection: problem, target, technique, licence, and the measured `effects`,
the newest of each device; as in the graph, a newer judge's measurement replaces older ones. Steps
without code are left out. Not here: selection, balance and deduplication of examples.
"""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from regraph_kg.models.evaluation import Outcome
from regraph_kg.models.target import TARGETS
from regraph_kg.models.trajectory import Measurement, Step, Trajectory, standing

QUESTION = """\
Make this code of the problem {problem} faster by one optimization step, in {language}. Keep what \
it computes. Say why, name the technique, and give the whole code after the step.

```cpp
{before}
```"""


def training_lines(trajectories: Iterable[Trajectory]) -> Iterator[str]:
    """A line of JSON for each verified step."""
    for trajectory in trajectories:
        # without code there is nothing to learn to write
        if trajectory.disclosed != "code":
            continue
        before = trajectory.serial
        for number, step in enumerate(trajectory.steps, 1):
            counted = standing(step.measurements)
            passed = {m.device: m for m in counted if m.outcome is Outcome.PASSED}
            if passed:
                example = _example(trajectory, number, before, passed)
                yield json.dumps(example, ensure_ascii=False) + "\n"
            # a failed step is built upon, too: its code is what the next one changed
            before = step.code


def _example(
    trajectory: Trajectory, number: int, before: str, passed: dict[str, Measurement]
) -> dict[str, Any]:
    step = trajectory.steps[number - 1]
    question = QUESTION.format(
        problem=trajectory.problem,
        language=TARGETS[trajectory.target].language,
        before=before.rstrip("\n"),
    )
    return {
        "messages": [
            {"role": "user", "content": question},
            {"role": "assistant", "content": _answer(step)},
        ],
        "problem": trajectory.problem,
        "target": trajectory.target,
        "technique": step.technique,
        "effects": [
            {"device": m.device, "metric": m.metric, "effect": m.effect, "speedup": m.speedup}
            for m in passed.values()
        ],
        "trajectory": trajectory.id,
        "step": number,
        "model": trajectory.source.model,
        "licence": trajectory.source.licence,
    }


def _answer(step: Step) -> str:
    code = f"```cpp\n{step.code.rstrip(chr(10))}\n```"
    parts = [step.reasoning, f"Technique: {step.label}", step.detail, code]
    return "\n\n".join(part for part in parts if part.strip())
