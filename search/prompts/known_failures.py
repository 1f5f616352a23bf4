"""Known failures of a transition: those in the graph, and those of this run.

A prompt warns of failures on code like its own (`LIKE`), most similar first, and of failures on the
code of several problems. Failures whose texts differ only in numbers are one failure. Not here:
answers without code, which say nothing of the transition; failures of methods that walk no graph,
which feed them back themselves.
"""

import re
from collections import defaultdict
from collections.abc import Callable
from functools import cache

from regraph_kg.models.evaluation import Outcome
from regraph_kg.models.graph import KnownFailure
from regraph_kg.search.code.likeness import likeness
from regraph_kg.search.code.tokens import normalized
from regraph_kg.search.prompts.examples import (
    DIAGNOSIS_CHARACTERS,
    diff_lines,
    failure_text,
    fill,
    short,
)

LIKE = 0.3
"""Least likeness of similar codes: docs/methods.md says how it divides the corpus."""
SHORT_DIFF_LINES = 20
"""A failed code is shown if its diff to the current code has at most this many lines."""
_NO_FAILURES = (Outcome.PASSED, Outcome.UNSTABLE_TIMING, Outcome.DECLINED, Outcome.UNCHANGED)
"""Outcomes in older graphs that no prompt warns of."""
_NUMBER = re.compile(r"\d+")

AskFailures = Callable[[str, str], tuple[KnownFailure, ...]]
"""Source and target technique id -> failures of the transition that the graph knows."""


class KnownFailures:
    """The failures of every transition of one run."""

    def __init__(self, ask: AskFailures, limit: int) -> None:
        """`ask` is called once a transition, never for a `limit` of 0; a prompt shows `limit`."""
        self._ask: AskFailures = cache(ask)
        self._limit = limit
        self._met: dict[tuple[str, str], list[KnownFailure]] = defaultdict(list)

    def add(self, source: str, technique: str, failure: KnownFailure) -> None:
        """Remember a failure that this run has met."""
        self._met[source, technique].append(failure)

    def warnings(self, source: str, technique: str, code: str) -> list[str]:
        """Warnings for a prompt that applies `technique` to `code`, which `source` led to."""
        if self._limit == 0:
            return []
        met = reversed(self._met[source, technique])
        stored = [item for item in self._ask(source, technique) if item.outcome not in _NO_FAILURES]
        found = similar([*met, *stored], code)[: self._limit]
        return [_warning(item, code) for item in found]


def similar(failures: list[KnownFailure], code: str) -> list[KnownFailure]:
    """Distinct failures that may happen to `code`, most similar first; equals in their order."""
    problems: dict[tuple[Outcome, str], set[str]] = defaultdict(set)
    for failure in failures:
        problems[_message_key(failure)].add(failure.problem)
    near = {failure: likeness(failure.before, code) for failure in failures}
    distinct: dict[tuple[Outcome, str], KnownFailure] = {}
    for failure in sorted(failures, key=lambda failure: -near[failure]):
        if near[failure] >= LIKE or len(problems[_message_key(failure)]) > 1:
            distinct.setdefault(_message_key(failure), failure)
    return [*distinct.values()]


def _message_key(failure: KnownFailure) -> tuple[Outcome, str]:
    """A key that is equal for failures with the same text."""
    text = _NUMBER.sub("0", short(failure.diagnosis, DIAGNOSIS_CHARACTERS))
    return failure.outcome, text


def _warning(failure: KnownFailure, code: str) -> str:
    diagnosis = short(failure.diagnosis, DIAGNOSIS_CHARACTERS)
    text = failure_text("known_failure", failure.outcome, diagnosis)
    if not failure.code or normalized(failure.code) == normalized(code):
        return text
    lines = diff_lines(code, failure.code)
    if len(lines) > SHORT_DIFF_LINES:
        return text
    return "\n".join([text, fill("known_failure_diff", diff="\n".join(lines))])
