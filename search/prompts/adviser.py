"""The part of a prompt about one technique: its definition, examples, and known failures.

Not here: the advice of methods without a graph (render.py).
"""

from functools import cache

from regraph_kg.models.graph import Example
from regraph_kg.models.method import Prompting
from regraph_kg.models.technique import Technique
from regraph_kg.search.code.facts import facts_of
from regraph_kg.search.prompts.examples import choose_examples, examples_shown, fill, short
from regraph_kg.search.prompts.known_failures import KnownFailures
from regraph_kg.search.prompts.parts import Paragraph, Priority
from regraph_kg.search.prompts.recipe import filled
from regraph_kg.search.world import AskExamples

NAME_CHARACTERS, SENTENCE_CHARACTERS = 100, 400
"""Limits for a technique's name and for each of its texts, which may be longer in a graph."""


class Adviser:
    """Writes that part for every transition of one run."""

    def __init__(
        self,
        examples: AskExamples,
        failures: KnownFailures,
        prompting: Prompting,
        device: str = "",
    ) -> None:
        """Examples of a transition, or of a transition and a code, are asked for once.

        `device`: the device of this run's measurements.
        """
        self._examples: AskExamples = cache(examples)
        self._failures = failures
        self._prompting = prompting
        self._device = device

    def __call__(self, source: str, technique: Technique, code: str) -> tuple[Paragraph, ...]:
        """Advice to apply `technique` to `code`, which `source` led to.

        The advice changes only by new failures.
        """
        shown = self._shown(source, technique.id, code)
        warnings = self._failures.warnings(source, technique.id, code)
        return (
            *self._explained(technique, code),
            *(Paragraph(example, Priority.EXAMPLES) for example in shown),
            *(Paragraph(warning, Priority.KNOWN_FAILURES) for warning in warnings),
        )

    def _explained(self, technique: Technique, code: str) -> list[Paragraph]:
        name = short(technique.name, NAME_CHARACTERS)
        if self._prompting.words == "lean":
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

    def _shown(self, source: str, technique: str, code: str) -> list[str]:
        prompting = self._prompting
        if prompting.examples == 0:
            return []
        near = (code,) if prompting.retrieval == "near" else ()
        examples: tuple[Example, ...] = self._examples(source, technique, *near)
        chosen = choose_examples(examples, prompting, code)
        return examples_shown(chosen, prompting, device=self._device)
