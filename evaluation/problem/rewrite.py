"""serial.cpp with fp64 types: the reference, written from the serial code token by token.

A serial fp32 sum of 2^26 uniforms is 50 % off, so the serial code must not be the truth.
A problem whose outputs are exact keeps its types: there a float decides a count or a place.
So does code with vectors or bits of floats, which have no fp64 twin: its own precision says what is
right, unless the problem brings a reference.cpp.
"""

import re
from functools import lru_cache

_FUNCTIONS = (
    "acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1"
    " fabs fdim floor fma fmax fmin fmod frexp hypot ldexp lgamma log log10 log1p log2 lrint"
    " lround llrint llround modf nearbyint nextafter pow remainder rint round sin sinh sqrt tan"
    " tanh tgamma trunc"
)
LIBM = frozenset(_FUNCTIONS.split())
"""Functions of <math.h> for double; those for float have an f behind their names."""
_WORDS = (
    {"float": "double", "_Float16": "double"}
    | {f"{name}f": name for name in LIBM}
    | {f"FLT_{name}": f"DBL_{name}" for name in ("MIN", "EPSILON", "DIG", "MANT_DIG")}
)
_TOKEN = re.compile(
    r"""
    (?P<kept> \#[ \t]*include[^\n]* | //[^\n]* | /\*(?:[^*]|\*(?!/))*+(?:\*/)?
            | "(?:\\.|[^"\\])*+"? | '(?:\\.|[^'\\])*+'? )
  | (?P<largest> \bFLT_MAX\b | (?:\bstd \s* :: \s*)? \bnumeric_limits \s* < \s* float \s* >
            \s* :: \s* (?:max|lowest) \s* \( \s* \) )
  | (?P<number> (?: \d[\d']*+\.?+\d*+ | \.\d++ ) (?: [eE][+-]?\d++ )? [fF] \b )
  | (?P<other> 0[xX][\w'.]++ | \d[\w'.]*+ )
  | (?P<word> [A-Za-z_]\w*+ )
    """,
    re.VERBOSE | re.DOTALL,
)

_COMMENTS = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_BITS = r"(?:const\s+)?(?:std::)?(?:u?int(?:32_t)?|unsigned(?:\s+int)?|char|u?int8_t)\b"
_OWN_WIDTH = re.compile(
    r"\b(?:_mm\d*_\w+|__m(?:64|128|256|512)\w*|float\d+x\d+_t|svfloat32\w*"
    r"|vector_size|ext_vector_type|bit_cast|memcpy\s*\(\s*&\w+\s*,\s*&\w+\s*,)"
    rf"|\breinterpret_cast\s*<\s*{_BITS}[^>]*[*&]\s*>\s*\(\s*&"
    rf"|\breinterpret_cast\s*<\s*{_BITS}\s*&"
    rf"|\(\s*{_BITS}\s*\*\s*\)\s*&"
    r"|\bunion\b[^}]*\bfloat\b"
)
_SUM = re.compile(r"((?:^|[;{}])[ \t\n]*)double (?=\w+ = )", re.MULTILINE)
"""The declaration of numbers that may change, at the beginning of a statement."""


@lru_cache(maxsize=8)
def has_own_width(code: str) -> bool:
    """Whether `code` means floats of 32 bits: vector intrinsics and types, or their bits."""
    return _OWN_WIDTH.search(_COMMENTS.sub(" ", code)) is not None


def to_double(code: str) -> str:
    """`code` with float as double: types, literals with an f, libm calls and limits."""

    def doubled(match: re.Match[str]) -> str:
        text = match.group()
        if match.lastgroup == "number":
            return text[:-1]
        # The largest float stays what it is: inputs that hold it, as "none yet", are not the
        # largest double.
        if match.lastgroup == "largest":
            return f"double({text})"
        return _WORDS.get(text, text) if match.lastgroup == "word" else text

    return _TOKEN.sub(doubled, code)


def to_single(code: str) -> str:
    """`code` with double as float: right code may compute so where its arrays are fp32."""
    narrower = {"double": "float"}
    return _TOKEN.sub(lambda match: narrower.get(match.group(), match.group()), code)


def with_long_sums(code: str) -> str:
    """`code` with local fp64 numbers, such as sums, as long double: the same up to rounding."""
    return _SUM.sub(r"\1long double ", code)
