"""Errors of g++, nvcc, ptxas and the linker, cut to the parts that help to mend a candidate.

Each error once, those at the candidate's own lines first, with what the compiler shows below it.
Symbols are given as they are in the source where the linker or ptxas mangles them. The text is
untrusted: unprintable characters are dropped (models/text.py).

Not covered: notes and candidate overloads; the line of an error that ptxas finds (it names none).
"""

import re
from itertools import takewhile

from regraph_kg.models.text import plain

_ERROR = re.compile(
    r"(?<!collect2: )error(?: #[\w-]+)?\s*: |undefined reference to|multiple definition of"
)
_LED = re.compile(r"candidate\.c(?:pp|u):\d{1,7}:\d+:\s+required from here")
_LED_TO_IT = re.compile(r"\bat line \d{1,7} of candidate\.cu$")  # nvcc tells it behind the error
_FOLDERS = re.compile(r"(?<![^\s(])(?:/\S*/)?(?:tmpxft_\w+-\d+_|(?<=/))(?=[^/\s]+[:(,])")
_MANGLED = re.compile(r"\b_Z(\d{1,4})(\w+)")
_SHOWN, _TEXT = 4, 300  # lines below an error, characters of a line


def trimmed(errors: str, limit: int = 1200) -> str:
    """Errors of one compilation in at most `limit` characters, whole ones if possible."""
    lines = [line.rstrip() for line in plain(errors).split("\n") if line.strip()]
    found, led, head = dict[str, str](), "", ""
    for at, line in enumerate(lines, 1):
        if _LED.match(line):
            led = line
        elif _ERROR.search(line):
            head = _MANGLED.sub(lambda m: m[2][: int(m[1])], _FOLDERS.sub("", line))
            below = takewhile(lambda one: one[0].isspace(), lines[at : at + _SHOWN])
            shown = [one[:_TEXT] for one in (head, *below, led) if one]
            found.setdefault(head, "\n".join(shown))
            led = ""
        elif head and "candidate.c" not in found[head] and (came := _LED_TO_IT.search(line)):
            found[head] += f"\n    {came[0]}"
    texts = sorted(found.values(), key=lambda text: "candidate.c" not in text)
    texts = texts or ["\n".join(line.strip() for line in lines[-8:])]
    chosen = texts[0]
    for text in texts[1:]:
        if len(chosen) + 1 + len(text) > limit:
            break
        chosen += f"\n{text}"
    return chosen[:limit]
