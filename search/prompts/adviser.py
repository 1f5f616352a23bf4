"""The part of a prompt about one technique: its definition, examples, and known failures.

Known failures are those in the graph and those of this run. A prompt warns of failures on code like
its own (`LIKE_FAILED`), most similar first, and of failures on the code of several problems.
Failures whose texts differ only in numbers are one failure. Not here: the advice of methods without
a graph (render.py); answers without code, which say nothing of a transition.
"""

import re
from collections import defaultdict
from collections.abc import Callable
from functools import cache

from regraph_kg.cpp.facts import facts_of
from regraph_kg.cpp.tokens import likeness, normalized
from regraph_kg.models.evaluation import Outcome
from regraph_kg.models.graph import Example, KnownFailure
from regraph_kg.models.method import Prompting
from regraph_kg.models.technique import Technique
from regraph_kg.search.prompts.examples import (
    DIAGNOSIS_CHARACTERS,
    diff_lines,
    examples_shown,
    failure_text,
    fill,
    short,
)
from regraph_kg.search.prompts.parts import Paragraph, Priority
from regraph_kg.search.prompts.recipe import filled

NAME_CHARACTERS, SENTENCE_CHARACTERS = 100, 400
"""Limits for a technique's name and for each of its texts, which may be longer in a graph."""
LIKE_FAILED = 0.3  # least likeness of similar codes: docs/methods.md says how it divides the corpus
SHORT_DIFF_LINES = 20  # a failed code is shown if its diff to the current code is no longer
_NUMBER = re.compile(r"\d+")


class Adviser:
    """Writes that part for every transition of one run."""

    def __init__(
        self,
        examples: Callable[[str, str], tuple[Example, ...]],
        failures: "KnownFailures",
        prompting: Prompting,
        device: str = "",
    ) -> None:
        """Examples of a transition are asked for once.

        `device`: the device of this run's measurements.
        """
        # the graph is read as it was when the run began: examples stay the same ones
        self._examples = cache(examples)
        self._failures = failures
        self._prompting = prompting
        self._device = device

    def __call__(self, source: str, technique: Technique, code: str) -> tuple[Paragraph, ...]:
        """Advice to apply `technique` to `code`, which `source` led to.

        The advice changes only by new failures.
        """
        shown: list[str] = []
        # what is not shown is not asked of the store either
        if self._prompting.examples:
            found = self._examples(source, technique.id)
            shown = examples_shown(found, self._prompting, code, device=self._device)
        warnings = self._failures.warnings(source, technique.id, code)
        return (
            *self._explained(technique, code),
            *(Paragraph(example, Priority.EXAMPLES) for example in shown),
            *(Paragraph(warning, Priority.KNOWN_FAILURES) for warning in warnings),
        )

    def _explained(self, technique: Technique, code: str) -> list[Paragraph]:
        name = short(technique.name, NAME_CHARACTERS)
        if self._prompting.words == "lean":
            # a vocabulary of a user may have no recipes
            recipe = filled(technique.recipe or technique.definition, facts_of(code))
            recipe = short(recipe, SENTENCE_CHARACTERS)
            return [Paragraph(fill("lean_technique", name=name, recipe=recipe))]
        definition = short(technique.definition, SENTENCE_CHARACTERS)
        parts = [Paragraph(fill("technique", name=name, definition=definition))]
        for template, text in (("applies", technique.applies), ("hurts", technique.hurts)):
            if sentence := short(text, SENTENCE_CHARACTERS):
                guidance = fill(template, **{template: sentence})
                parts.append(Paragraph(guidance, Priority.GUIDANCE, joined=True))
        return parts


class KnownFailures:
    """The failures of every transition of one run."""

    def __init__(self, ask: Callable[[str, str], tuple[KnownFailure, ...]], limit: int) -> None:
        """`ask` is called once a transition, never for a `limit` of 0; a prompt shows `limit`."""
        self._ask = cache(ask)
        self._limit = limit
        self._met: dict[tuple[str, str], list[KnownFailure]] = defaultdict(list)

    def add(self, source: str, technique: str, failure: KnownFailure) -> None:
        """Remember a failure that this run has met."""
        self._met[source, technique].append(failure)

    def warnings(self, source: str, technique: str, code: str) -> list[str]:
        """Warnings for a prompt that applies `technique` to `code`, which `source` led to."""
        if self._limit == 0:
            return []
        # this run's own failures come first among equals: they are of this very code
        met = reversed(self._met[source, technique])
        found = similar([*met, *self._ask(source, technique)], code)[: self._limit]
        return [_warning(item, code) for item in found]


def similar(failures: list[KnownFailure], code: str) -> list[KnownFailure]:
    """Distinct failures that may happen to `code`, most similar first; equals in their order."""
    problems: dict[tuple[Outcome, str], set[str]] = defaultdict(set)
    for failure in failures:
        problems[_message_key(failure)].add(failure.problem)
    near = {failure: likeness(failure.before, code) for failure in failures}
    distinct: dict[tuple[Outcome, str], KnownFailure] = {}
    for failure in sorted(failures, key=lambda failure: -near[failure]):
        if near[failure] >= LIKE_FAILED or len(problems[_message_key(failure)]) > 1:
            distinct.setdefault(_message_key(failure), failure)
    return [*distinct.values()]


def _message_key(failure: KnownFailure) -> tuple[Outcome, str]:
    """A key that is equal for failures with the same text."""
    # lines, indices and values differ from run to run, the mistake does not
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
