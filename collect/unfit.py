"""Source files that cannot be judged at all: they are no failure of a step."""

import re

from regraph_kg.models.text import plain
from regraph_kg.search.code.tokens import normalized

LONGEST_CODE = 200_000
"""Characters; as many as a step may hold."""
_OWN_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"(?P<file>[^"\n]*)"', re.MULTILINE)


def unfit(code: str, entry: str) -> str | None:
    """Why a source file cannot be judged at all, in words; None where it can."""
    if not code.strip() or "\0" in code:
        return "the file is empty, or no text"
    if len(code) > LONGEST_CODE:
        return f"the file has more than {LONGEST_CODE} characters"
    if not re.search(rf"\b{re.escape(entry)}\s*\(", normalized(code)):
        return f"it does not define {entry}"
    if 'extern "C"' not in code:
        return f'it does not export {entry}: that takes extern "C"'
    if (include := _OWN_INCLUDE.search(code)) is not None:
        return f'it includes "{plain(include["file"])}", and a candidate is one file'
    return None
