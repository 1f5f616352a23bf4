"""A finished run's verified paths as trajectories, for the graph's front door.

One trajectory per verified leaf: a path whose last step passed, with no passed step below it. Paths
share steps. A shared step is in every trajectory, as a trajectory begins at the serial code. Its
measurement and the failures after it are in the first one alone, so that every try counts once.

These stay out of the graph, as they would falsify it (docs/ingest.md): runs of a recorded model or
judge, runs that read their own problem's examples, runs that have not ended (their leaves may still
grow, and would come twice), times taken while the machine did other work, steps that did nothing or
an unknown technique, and results that the final measurement disproved. A declined technique is
recorded as declined, neither a try nor a failure. A step that applied another known technique
counts for that one. Not covered: steps that name no technique; tries under a path
without a verified leaf; the merge (ingest/pipeline.py).
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from regraph_kg.errors import BadInput
from regraph_kg.models.evaluation import EvalReport, Outcome, code_hash
from regraph_kg.models.model_spec import ModelSpec
from regraph_kg.models.prompt import PromptKey
from regraph_kg.models.run import RunHeader, StepRecord
from regraph_kg.models.trajectory import (
    FailedStep,
    Measurement,
    RooflinePosition,
    Source,
    Step,
    Trajectory,
)
from regraph_kg.search.prompts.fences import without_blocks
from regraph_kg.search.run_record import RunRecord

# Why a step's time is no evidence; the step may still be part of a path.
BUSY = "timed while the machine did other work"
# A step without a transition.
NAMELESS = "names no technique"
UNASKED = {
    "nothing": "changed nothing",
    "other": "did another technique than the one asked for, unknown which",
}
"""Why a step says nothing of the technique that it was asked for, by `Applied`."""
# Stored characters of a model's text beside its code.
REASONING_CHARACTERS = 2_000
StepPath = tuple[str, ...]
"""Path elements of a step; () is the serial code."""


@dataclass(frozen=True, slots=True)
class Harvest:
    """The trajectories of a run, and how many of its steps it says nothing of, by reason."""

    trajectories: tuple[Trajectory, ...]
    left_out: Mapping[str, int]

    @property
    def steps(self) -> int:
        """Verified steps, each once."""
        return sum(
            len(step.measurements) for trajectory in self.trajectories for step in trajectory.steps
        )

    @property
    def failures(self) -> int:
        """Failed steps."""
        return sum(len(trajectory.failures) for trajectory in self.trajectories) - self.declined

    @property
    def declined(self) -> int:
        """Steps that the model declined."""
        failed = (failure for trajectory in self.trajectories for failure in trajectory.failures)
        return sum(failure.outcome is Outcome.DECLINED for failure in failed)


@dataclass(frozen=True, slots=True)
class VerifiedStep:
    """A step that later steps may build on."""

    step: StepRecord
    report: EvalReport | None

    @property
    def passed(self) -> bool:
        """Verified and timed stably, on a machine that did nothing else meanwhile."""
        quiet = self.report is None or not self.report.load
        return quiet and self.step.outcome is Outcome.PASSED


def refuse(run: RunRecord, *, recorded: bool = False, trust: bool = False, judge: str = "") -> None:
    """Raise `BadInput` where a run must not teach; `recorded` lets recorded ones pass.

    `trust`: what another installation wrote passes, too; `judge`: the version whose figures are
    meant, if any.
    """
    header = run.header
    why, spec = None, ModelSpec.traced(header.model)
    if spec is not None and spec.is_recorded and not recorded:
        why = f"its model is {header.model}: recorded answers never enter the graph"
    elif header.judge != "live" and not recorded:
        why = f"its judge is {header.judge}: recorded verdicts never enter the graph"
    elif not (run.ours or trust):
        why = (
            "this installation did not write it, so that its times are claims (--trust takes them)"
        )
    elif judge and any(report.evaluator != judge for report in run.reports.values()):
        other = next(
            report.evaluator for report in run.reports.values() if report.evaluator != judge
        )
        why = (
            f"its judge was version {other}, this one is {judge}, and their figures do not compare"
        )
    elif header.excluded != header.problem:
        why = "it read its own problem's examples: what worked may be copied, and would count twice"
    elif not run.ended:
        why = "it has not ended: finish it with regraph optimize --resume"
    if why is not None:
        raise BadInput(f"run {run.id}: {why}")


def harvest(run: RunRecord, serial: str) -> Harvest:
    """The trajectories of a run on a problem with the serial code `serial`.

    `BadInput` for other serial code than it began with; whether it may teach: `refuse`.
    """
    check_serial(run, serial)
    tree = _Tree(run)
    tree.grow(step for record in run.records for step in record.steps)
    return Harvest(tuple(_trajectories(tree, serial)), dict(+tree.left_out))


def check_serial(run: RunRecord, serial: str) -> None:
    """Raise `BadInput` where a run began with other code than `serial`."""
    if code_hash(serial) != run.header.serial:
        raise BadInput(
            f"run {run.id}: it began with other serial code than problem"
            f" {run.header.problem} has now; name the problem it was made with: --problem"
        )


class _Tree:
    """The steps of a run by place."""

    def __init__(self, run: RunRecord) -> None:
        self.run, self.reasonings = run, reasonings(run)
        self.nodes: dict[StepPath, VerifiedStep] = {}
        self.failures: defaultdict[StepPath, list[StepRecord]] = defaultdict(list)
        """The failed steps by the place before them, declined ones too, as in a trajectory."""
        self.left_out: Counter[str] = Counter()
        self._named: Counter[str] = Counter()

    def grow(self, steps: Iterable[StepRecord]) -> None:
        """Place all steps, shorter paths first."""
        # records come as iterations end: a child's may stand before its parent's
        for step in sorted(steps, key=lambda step: len(step.path)):
            if step.outcome is None or (not step.path and not step.cost.calls):
                continue  # a recorded model had no answer, or it is the start
            if reason := self._unfit(step):
                self.left_out[reason] += 1
            elif step.outcome is Outcome.TIMED_OUT and self._loaded(step):
                self.left_out[BUSY] += 1
            else:
                self._place(self._disproved(step))

    def leaves(self) -> list[StepPath]:
        """Places of passed steps below which none passed, in the order in which they came."""
        passed = [place for place, node in self.nodes.items() if node.passed]
        inner = {place[:length] for place in passed for length in range(len(place))}
        return [place for place in passed if place not in inner]

    def name_failure(self, step: StepRecord) -> str:
        """The hash of its code; numbered where the same was tried again: that is another try."""
        name = "" if step.code is None else code_hash(step.code)
        attempt = f"{len(step.path)} {_did(step)} {step.outcome} {name} {step.diagnosis}"
        self._named[attempt] += 1
        return name if self._named[attempt] == 1 else f"{name}#{self._named[attempt]}"

    def _unfit(self, step: StepRecord) -> str | None:
        if step.technique is None:
            return NAMELESS
        if step.applied != "asked" and step.did is None:
            return UNASKED[step.applied]
        if step.path[:-1] not in self.nodes and len(step.path) > 1:
            return "came after a step that was left out"
        if step.path in self.nodes:
            return "was tried twice under one name"
        if "\0" in (step.code or ""):
            return "holds a NUL byte"
        return None

    def _loaded(self, step: StepRecord) -> bool:
        """Whether other work ran while a step was timed: its time is no evidence."""
        report = self.run.reports.get(code_hash(step.code or ""))
        return report is not None and bool(report.load)

    def _disproved(self, step: StepRecord) -> StepRecord:
        """The step as a failure, where the final measurement found its code wrong."""
        # the full grade looks at more inputs than the screening did
        final = self.run.finals.get(code_hash(step.code or ""))
        if final is None or final.outcome.is_right:
            return step
        update = {"outcome": final.outcome, "diagnosis": final.diagnosis, "speedup": None}
        return step.model_copy(update=update)

    def _place(self, step: StepRecord) -> None:
        if step.outcome is not None and step.outcome.is_right and step.code:
            self.nodes[step.path] = VerifiedStep(step, self.run.reports.get(code_hash(step.code)))
            self.left_out[BUSY] += self._loaded(step)
        else:
            self.failures[step.path[:-1]].append(step)


def _trajectories(tree: _Tree, serial: str) -> Iterator[Trajectory]:
    """One a leaf; each measurement and each failure goes with the first that passes its place."""
    # a shared step is in several trajectories: counted in each, one try would weigh as many
    covered: set[StepPath] = set()
    for leaf in tree.leaves():
        way = [leaf[:length] for length in range(len(leaf) + 1)]
        new = [place for place in way if place not in covered]
        covered.update(new)
        yield Trajectory(
            schema=1,
            target=tree.run.header.target,
            problem=tree.run.header.problem,
            serial=serial,
            source=_source(tree.run),
            steps=tuple(_step(tree, place, measured=place in new) for place in way[1:]),
            failures=tuple(_failures(tree, new)),
        )


def _source(run: RunRecord) -> Source:
    header = run.header
    return Source(
        model=header.model,
        run=run.id,
        prompt_hash=header.prompts,
        created=header.created,
        learned=True,
    )


def _step(tree: _Tree, place: StepPath, *, measured: bool) -> Step:
    node, before = tree.nodes[place], tree.nodes.get(place[:-1])
    code = node.step.code or ""
    measurement = _measurement(tree, node, before, first=len(place) == 1) if measured else None
    return Step(
        label=_label(_did(node.step)),
        technique=_did(node.step),
        # what was said beside the code speaks of what was asked for
        reasoning="" if node.step.did else tree.reasonings.get(code_hash(code), ""),
        code=code,
        measurements=() if measurement is None else (measurement,),
    )


def _measurement(
    tree: _Tree, node: VerifiedStep, before: VerifiedStep | None, *, first: bool
) -> Measurement | None:
    """The measurement of a step; None where our machine timed it badly.

    The time before the step is that of the code before, if the two were timed in turn. Else it is
    taken as the serial code's in the same session over the speedup then.
    """
    report = node.report
    if not node.passed or report is None:
        return None
    serial = report.baseline.median if report.baseline else None
    reference = None if before is None or not before.passed else before.report
    over = reference.speedup if reference else None
    # levels drift between sessions: the same session's serial time cancels that out
    earlier = serial / over if serial is not None and over else None
    seconds, rivalry = report.timing.median if report.timing else None, report.rivalry
    if seconds and rivalry and reference and rivalry.code_hash == reference.code_hash:
        earlier = seconds * rivalry.ratio
    return Measurement(
        device=report.device,
        toolchain=report.toolchain,
        evaluator=report.evaluator,
        run=_try(tree, node.step.path),
        outcome=Outcome.PASSED,
        metric=report.metric,
        seconds=seconds,
        before_seconds=serial if first else earlier,
        serial_seconds=serial,
        repairs=max(0, node.step.cost.calls - 1),
        roofline=RooflinePosition.of(report.account),
    )


def _failures(tree: _Tree, places: Sequence[StepPath]) -> Iterator[FailedStep]:
    """The failures after these places."""
    for place in places:
        for step in tree.failures.get(place, ()):
            yield FailedStep(
                after_step=len(place),
                label=_label(_did(step)),
                technique=_did(step),
                outcome=step.outcome,
                diagnosis=step.diagnosis.replace("\0", " "),
                code_hash=tree.name_failure(step),
                code=step.code or "",
                device=tree.run.header.device,
            )


def _try(tree: _Tree, place: StepPath) -> str:
    """Name of a measurement: its run, and which samples led there unless all were the first.

    So two samples that came to the same code are two tries, also where all before them is equal. A
    step that did something else has its whole element there: the other one may have been taken too.
    """
    samples = []
    for length, element in enumerate(place, start=1):
        # a sample number alone would collide with that of the technique it strayed to
        strayed = tree.nodes[place[:length]].step.did is not None
        samples.append(element if strayed else element.partition("#")[2] or "0")
    # the store takes measurements of one name for one
    return tree.run.id if set(samples) == {"0"} else f"{tree.run.id} {'.'.join(samples)}"


def _did(step: StepRecord) -> str | None:
    """The technique of a step: the one it applied, as far as is known."""
    return step.did or step.technique


def _label(technique: str | None) -> str:
    """A technique's id in words: its name is the vocabulary's affair."""
    return (technique or "").partition("/")[2].replace("-", " ")


def reasonings(run: RunRecord) -> dict[str, str]:
    """The text beside each step's code, by the code's hash; the first answer counts.

    A step's code need not stand in its answer, as it may be mended, or
    be a file of which the model wrote a part: its answer is found by what it was asked.
    """
    texts: dict[str, str] = {}
    replies = dict(run.replies)
    for step in (step for record in run.records for step in record.steps):
        reply = replies.get(_key(run.header, step))
        if reply is None or step.code is None:
            continue
        prose = without_blocks(reply.text.replace("\r\n", "\n")).replace("\0", " ")
        texts.setdefault(code_hash(step.code), " ".join(prose.split())[:REASONING_CHARACTERS])
    return texts


def _key(header: RunHeader, step: StepRecord) -> PromptKey:
    """The prompt's key of a step's last answer on a walk."""
    return PromptKey(
        problem=header.problem,
        target=header.target,
        path=(*step.path[:-1], step.technique or ""),
        attempt=step.sample,
        repair=max(0, step.cost.calls - 1),
    )
