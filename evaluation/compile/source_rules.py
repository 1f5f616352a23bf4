"""Source rules: sources that are refused, with a one-line reason, before the compiler starts.

A courtesy, no defence against reading files: a source that names a file in a spelling which is not
known here finds none, as compilers run confined (compilers.py). Nor does one that spells a name of
the held-up build in another way tell it by that (compile.py).
"""

import codecs
import re

from regraph_kg.evaluation.rules import Failure
from regraph_kg.models.evaluation import Outcome

_SOURCE_BYTES = 2**20
_TELLS = re.compile(
    r"\w*(?:__tsan_|no_sanitize|SANITIZE_THREAD|thread_sanitizer|regraph_perturb)\w*"
)
"""What tells the build whose threads are held up from the one that is timed."""


def rejected(code: str) -> Failure | None:
    if not code.strip():
        return Failure(Outcome.REJECTED_SOURCE, "the source is empty")
    is_encodable = not any("\ud800" <= letter <= "\udfff" for letter in code)
    if "\x00" in code or len(code) > _SOURCE_BYTES or not is_encodable:
        return Failure(Outcome.REJECTED_SOURCE, "the source is not C++ text of at most 1 MiB")
    text = without_comments(code.replace("\\\r\n", "").replace("\\\n", ""))
    for line in text.splitlines():
        directive = re.match(r"\s*(?:\#|%:)\s*(include|include_next|import|embed)\b\s*(.*)", line)
        if not directive:
            continue
        operand = directive[2].strip()
        path = operand[1:].lstrip()
        names_header = operand.startswith(("<", '"')) and directive[1] != "embed"
        if not names_header or path.startswith("/") or ".." in path:
            message = f"not allowed: {line.strip()[:200]} (reaches for files)"
            return Failure(Outcome.REJECTED_SOURCE, message)
    # literals are joined as the compiler joins neighbours, escapes resolved
    joined = "".join(re.findall(r'"((?:\\.|[^"\\\n])*+)"?', text)).encode("latin-1", "replace")
    strings = codecs.decode(joined, "unicode_escape", "replace")
    assembler = re.search(r"\.\s*(incbin|include|macro|irpc?)\b", text + strings)
    if assembler:
        return Failure(Outcome.REJECTED_SOURCE, f"not allowed: .{assembler[1]} in assembler")
    told = _TELLS.search(text)
    if told:
        text = f"not allowed: {told[0][:80]} (no part of the code may be left out of checks)"
        return Failure(Outcome.REJECTED_SOURCE, text)
    return None


def without_comments(code: str) -> str:
    """The code with a blank for each comment; strings stay."""
    pattern = (  # what is not closed runs to the end, so that each character is read once
        r"//[^\n]*|/\*(?:[^*]|\*(?!/))*+(?:\*/)?"
        r'|("(?:\\.|[^"\\\n])*+"?|\'(?:\\.|[^\'\\\n])*+\'?)'
    )
    return re.sub(pattern, lambda m: m[1] or " ", code, flags=re.DOTALL)
