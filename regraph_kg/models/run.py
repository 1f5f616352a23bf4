"""What a search yields: SimulationRecord per iteration, RunSummary at the end."""

from regraph_kg.models.base import Frozen, Target
from regraph_kg.models.evaluation import Interval, Outcome


class StepRecord(Frozen):
    """One new sample bought by an iteration: technique `technique` applied as sample `sample`."""

    path: tuple[str, ...]
    """Path elements up to and including this step (see `PromptKey.path`)."""
    technique: str
    sample: int
    outcome: Outcome | None
    """None where the recorded model had no answer."""
    speedup: float | None
    gain: float | None
    """Log gain g_i backed up for this step (method.md 3.2); None under the paper preset."""
    calls: int
    code_hash: str | None


class SimulationRecord(Frozen):
    """One iteration of a search: what it selected, bought and learned."""

    iteration: int
    path: tuple[str, ...]
    steps: tuple[StepRecord, ...]
    reward: float | None
    spent: int
    """Budget units spent so far, this iteration included."""
    best_speedup: float
    best_path: tuple[str, ...]


class RunSummary(Frozen):
    """What a finished run reports. Only the re-measured speedup counts (`speedup`)."""

    problem: str
    target: Target
    method: str
    model: str
    seed: int
    budget: int
    spent: int
    iterations: int
    calls: int
    evaluations: int
    prompt_tokens: int
    output_tokens: int
    unrecorded: int
    outcomes: dict[str, int]
    best_path: tuple[str, ...]
    best_code: str
    speedup: float
    """Re-measured in a fresh worker; 1.0 when the serial code is the answer."""
    speedup_interval: Interval | None
    improved: bool
    device: str
    stopped: str
    """Why it ended: "budget", "exhausted" or "interrupted"."""
