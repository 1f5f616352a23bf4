"""Code and examples as text for a prompt, and the text files of prompts.

A step is shown as a unified diff, or as full texts where those are shorter. Tokens are estimated,
since no model's tokenizer is known here. Not here: the order of parts in a prompt (render.py).
"""

import difflib
from collections.abc import Sequence
from functools import cache, lru_cache
from pathlib import Path
from string import Template

from regraph_kg.cpp.tokens import likeness
from regraph_kg.models.evaluation import Outcome
from regraph_kg.models.graph import Example
from regraph_kg.models.method import Prompting
from regraph_kg.search.prompts.fences import fence, quoted

FOLDER = Path(__file__).parent

LIKE = 0.2  # least likeness of an example to the current code: docs/methods.md has the figures
DEVICE_CHARACTERS = 60
BYTES_A_TOKEN = 3  # an estimate for code: bytes of UTF-8 in one token
REASONING_CHARACTERS = 300
DIAGNOSIS_CHARACTERS = 200  # most characters of a diagnosis, except that of the last failure


def estimated_tokens(text: str) -> int:
    """Tokens of `text`, by its length."""
    return -(-len(text.encode()) // BYTES_A_TOKEN)


def examples_shown(
    examples: Sequence[Example],
    prompting: Prompting,
    code: str,
    *,
    named: bool = False,
    device: str = "",
) -> list[str]:
    """Texts of those of `examples` that may help with `code`, as many as are allowed and fit.

    The best first, verified ones before others; equals keep their order. `LIKE` compares `code`
    with an example's code before its step. One that does not fit is left out. `named`: each names
    its technique. Effects are those seen from `device`.
    """
    near = dict.fromkeys(examples, 0.0)
    if prompting.retrieval == "like":
        # an example of unlike code misleads: steps are told by what they change in a text
        near = {item: likeness(item.before, code) for item in examples}
        near = {item: alike for item, alike in near.items() if alike >= LIKE}
    shown: list[str] = []
    tokens_left = prompting.example_tokens
    for example in sorted(near, key=lambda item: (-near[item], not item.verified)):
        if len(shown) == prompting.examples:
            break
        text = _example(example, _heading(example, named=named, device=device))
        # one that is too long gives way to a shorter one behind it
        if estimated_tokens(text) <= tokens_left:
            shown.append(text)
            tokens_left -= estimated_tokens(text)
    return shown


def diff_lines(before: str, after: str) -> list[str]:
    """The unified diff, without the lines that name files; empty where nothing changed."""
    # without the names of files, which would be made up
    old, new = before.strip().splitlines(), after.strip().splitlines()
    return list(difflib.unified_diff(old, new, lineterm=""))[2:]


def short(text: str, characters: int = REASONING_CHARACTERS) -> str:
    """`text` in one line, cut between words where it is longer than `characters`."""
    text = " ".join(text.split())
    if len(text) <= characters:
        return text
    return text[:characters].rsplit(" ", 1)[0] + " ..."


def fill(template: str, **values: str) -> str:
    """The text file `template`, with `values` in the places of the same names.

    `$fence` becomes a fence that no value closes.
    """
    return _template(template).substitute(values, fence=fence(*values.values())).strip()


def failure_text(template: str, outcome: Outcome, diagnosis: str) -> str:
    """A failure's text: `template` with its outcome, and its diagnosis as quoted text."""
    text = quoted(diagnosis)
    return fill(template, outcome=outcome.value, said=f":\n{text}" if text else ".")


@lru_cache(maxsize=512)
def _example(example: Example, heading: str) -> str:
    """One example as a diff, or in full where that is shorter."""
    diff = fill(
        "example_diff", heading=heading, diff="\n".join(diff_lines(example.before, example.after))
    )
    # a step that rewrites all is a diff of twice the length
    texts = fill(
        "example_texts", heading=heading, before=example.before.strip(), after=example.after.strip()
    )
    return texts if estimated_tokens(texts) < estimated_tokens(diff) else diff


def _heading(example: Example, *, named: bool, device: str) -> str:
    """What an example is, the measured effect of its step, and its reasoning."""
    technique = example.target.partition("/")[2].replace("-", " ")
    brought = "not measured"
    if measurement := example.seen_from(device):
        effect, where = measurement
        machine = "this machine" if where == device else short(where, DEVICE_CHARACTERS)
        brought = f"{effect:.3g}x as fast on {machine}"
    title = f"Example from other code{f', {technique}' if named else ''} ({brought}):"
    return f"{title} {short(example.reasoning)}".strip()


@cache
def _template(name: str) -> Template:
    return Template((FOLDER / f"{name}.txt").read_text(encoding="utf-8"))
