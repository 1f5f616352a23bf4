"""A model's text beside the code of each step of a run.

Not here: what comes of it (harvest.py).
"""

from regraph_kg.models.evaluation import code_hash
from regraph_kg.models.prompt import PromptKey
from regraph_kg.models.run import RunHeader, StepRecord
from regraph_kg.search.prompts.fences import without_blocks
from regraph_kg.search.run_record import RunRecord

REASONING_CHARACTERS = 2_000
"""Stored characters of a model's text beside its code."""


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
