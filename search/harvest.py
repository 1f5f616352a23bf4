"""A finished run's verified paths as trajectories, for the graph's front door.

One trajectory per verified leaf: a path whose last step passed, with no passed step below it. Paths
share steps. A shared step is in every trajectory, as a trajectory begins at the serial code. Its
measurement and the failures after it are in the first one alone, so that every try counts once.

These stay out of the graph, as they would falsify it (docs/ingest.md): runs of a recorded model,
runs that read their own problem's examples, runs that have not ended (their leaves may still
grow, and would come twice), times taken while the machine did other work, steps that did nothing or
an unknown technique, and results that the final measurement disproved. A step that applied another
known technique counts for that one. Not covered: steps that name no technique; tries under a path
without a verified leaf; the merge (ingest/pipeline.py).
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from regraph_kg.errors import BadInput
from regraph_kg.models.evaluation import EvalReport, Outcome, code_hash
from regraph_kg.models.model_spec import ModelSpec
from regraph_kg.models.prompt import PromptKey
from regraph_kg.models.run import StepRecord
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
NAMELESS = "names no technique"  # a step without a transition
UNASKED = {
    "nothing": "changed nothing",
    "other": "did another technique than the one asked for, unknown which",
}
"""Why a step says nothing of the technique that it was asked for, by `Applied`."""
REASONING_CHARACTERS = 2_000  # stored characters of a model's text beside its code
StepPath = tuple[str, ...]  # path elements of a step; () is the serial code


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
        return sum(len(trajectory.failures) for trajectory in self.trajectories)


def refuse(run: RunRecord, *, recorded: bool = False, trust: bool = False, judge: str = "") -> None:
    """Raise `BadInput` where a run must not teach, but for what `recorded` or `trust` lets pass."""
    header, why = run.header, None
    spec = ModelSpec.traced(header.model)
    others = {report.evaluator for report in run.reports.values()} - {judge}
    if spec is not None and spec.is_recorded and not recorded:
        why = f"its model is {header.model}: recorded answers never enter the graph"
    elif not (run.ours or trust):
        why = (
            "this installation did not write it, so that its times are claims (--trust takes them)"
        )
    elif judge and others:
        why = (
            f"its judge was version {min(others)}, this one is {judge}, and their figures do not"
            " compare"
        )
    elif header.excluded != header.problem:
        why = "it read its own problem's examples: what worked may be copied, and would count twice"
    elif not run.ended:
        why = "it has not ended: finish it with regraph optimize --resume"
    if why is not None:
        raise BadInput(f"run {run.id}: {why}")


def harvest(run: RunRecord, serial: str) -> Harvest:
    """The trajectories of a run. `BadInput` for other serial code than it began with."""
    if code_hash(serial) != run.header.serial:
        raise BadInput(
            f"run {run.id}: it began with other serial code than problem"
            f" {run.header.problem} has now; name the problem it was made with: --problem"
        )
    tree = _Tree(run)
    tree.grow()
    return Harvest(tuple(_trajectories(tree, serial)), dict(+tree.left_out))


class _Tree:
    def __init__(self, run: RunRecord) -> None:
        self.run, self.reasonings = run, reasonings(run)
        self.nodes: dict[StepPath, StepRecord] = {}  # right steps, which later steps may build on
        self.failures: defaultdict[StepPath, list[StepRecord]] = defaultdict(list)
        """The failed steps by the place before them."""
        self.left_out: Counter[str] = Counter()
        self._named: Counter[str] = Counter()

    def grow(self) -> None:
        """Place all steps, shorter paths first."""
        steps = [step for record in self.run.records for step in record.steps]
        # records come as iterations end: a child's may stand before its parent's
        for step in sorted(steps, key=lambda step: len(step.path)):
            if step.outcome is None or step.fell or (not step.path and not step.cost.calls):
                continue  # a recorded model had no answer, or it is no sample
            report = self.report(step)
            final = self.run.finals.get(code_hash(step.code or ""), report)
            busy = report is not None and bool(report.load)
            if reason := self._unfit(step):
                self.left_out[reason] += 1
            elif step.outcome is Outcome.TIMED_OUT and busy:
                self.left_out[BUSY] += 1
            elif final is not None and not final.outcome.is_right:
                # the full grade looks at more inputs than the screening, that at more than a glance
                update = {"outcome": final.outcome, "diagnosis": final.diagnosis, "speedup": None}
                self.failures[step.path[:-1]].append(step.model_copy(update=update))
            elif step.outcome.is_right and step.code:
                self.nodes[step.path] = step
                self.left_out[BUSY] += busy
            else:
                self.failures[step.path[:-1]].append(step)

    def report(self, step: StepRecord) -> EvalReport | None:
        """The search's verdict on a step's code; the last one where it was only glanced at."""
        key = code_hash(step.code or "")
        seen = self.run.reports.get(key)
        return self.run.finals.get(key, seen) if seen and seen.grade == "glance" else seen

    def passed(self, place: StepPath) -> bool:
        """Whether its step passed beyond a glance, and was timed well on a quiet machine."""
        step = self.nodes.get(place)
        if step is None or step.outcome is not Outcome.PASSED:
            return False
        report = self.report(step)
        return report is None or (report.is_known and not report.load and report.grade != "glance")

    def leaves(self) -> list[StepPath]:
        """Places of passed steps below which none passed, in the order in which they came."""
        passed = [place for place in self.nodes if self.passed(place)]
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


def _trajectories(tree: _Tree, serial: str) -> Iterator[Trajectory]:
    """One a leaf; each measurement and each failure goes with the first that passes its place."""
    header = tree.run.header
    source = Source(
        model=header.model,
        run=tree.run.id,
        prompt_hash=header.prompts,
        created=header.created,
        learned=True,
    )
    # a shared step is in several trajectories: counted in each, one try would weigh as many
    covered: set[StepPath] = set()
    for leaf in tree.leaves():
        way = [leaf[:length] for length in range(len(leaf) + 1)]
        new = [place for place in way if place not in covered]
        covered.update(new)
        yield Trajectory(
            schema=1,
            target=header.target,
            problem=header.problem,
            serial=serial,
            source=source,
            steps=tuple(_step(tree, place, measured=place in new) for place in way[1:]),
            failures=tuple(_failures(tree, new)),
        )


def _step(tree: _Tree, place: StepPath, *, measured: bool) -> Step:
    step = tree.nodes[place]
    code = step.code or ""
    measurement = _measurement(tree, place) if measured else None
    return Step(
        label=_label(_did(step)),
        technique=_did(step),
        # what was said beside the code speaks of what was asked for
        reasoning="" if step.did else tree.reasonings.get(code_hash(code), ""),
        code=code,
        transform=step.transform,
        measurements=() if measurement is None else (measurement,),
    )


def _measurement(tree: _Tree, place: StepPath) -> Measurement | None:
    """The measurement of a step; None where our machine timed it badly.

    The time before the step is that of the code before, if the two were timed in turn. Else it is
    taken as the serial code's in the same session over the speedup then.
    """
    step = tree.nodes[place]
    report = tree.report(step)
    if report is None or not tree.passed(place):
        return None
    serial = report.baseline.median if report.baseline else None
    reference = tree.report(tree.nodes[place[:-1]]) if tree.passed(place[:-1]) else None
    over = reference.sure_speedup if reference else None
    # levels drift between sessions: the same session's serial time cancels that out
    earlier = serial / over if serial is not None and over else None
    seconds, rivalry = report.timing.median if report.timing else None, report.rivalry
    in_turn = rivalry and reference and rivalry.code_hash == reference.code_hash
    if seconds and rivalry and in_turn and rivalry.interval.is_narrow:
        earlier = seconds * rivalry.ratio
    return Measurement(
        device=report.device,
        toolchain=report.toolchain,
        evaluator=report.evaluator,
        run=_try(tree, place),
        outcome=Outcome.PASSED,
        metric=report.metric,
        seconds=seconds,
        before_seconds=serial if len(place) == 1 else earlier,
        serial_seconds=serial,
        roofline=RooflinePosition.of(report.account),
    )


def _failures(tree: _Tree, places: Sequence[StepPath]) -> Iterator[FailedStep]:
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
                transform=step.transform,
            )


def _try(tree: _Tree, place: StepPath) -> str:
    """Name of a measurement: its run, and which samples led there unless all were the first.

    So two samples that came to the same code are two tries, also where all before them is equal. A
    step that did something else has its whole element there: the other one may have been taken too.
    """
    samples = []
    for length, element in enumerate(place, start=1):
        # a sample number alone would collide with that of the technique it strayed to
        strayed = tree.nodes[place[:length]].did is not None
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

    A step's code need not stand in its answer: a rule may have written it, or the rest of its file.
    So its answer is found by what was asked.
    """
    texts: dict[str, str] = {}
    header, replies = run.header, dict(run.replies)
    for step in (step for record in run.records for step in record.steps):
        key = PromptKey(
            problem=header.problem,
            target=header.target,
            path=(*step.path[:-1], step.technique or ""),
            attempt=step.sample,
        )
        if key not in replies or step.code is None:
            continue
        prose = without_blocks(replies[key].text).replace("\0", " ")
        texts.setdefault(code_hash(step.code), " ".join(prose.split())[:REASONING_CHARACTERS])
    return texts
