"""Checks a problem before a search: is its declaration true, can it be measured.

Cheap first (`CHECKS`): an error ends the look; a search must not start.

The compiler compares signatures, by a static_assert behind the serial code; where they differ, g++
names the type that it saw. Alike are integers of one size and sign, arrays with and without const.

Findings are kept; memory is checked each time. Not covered: `work`; whether inputs are like those
of real use; a GPU's memory; parameters of one type in another order, unless serial.cpp gives them
the names of problem.toml (then a look at its text finds that); functions with overloads.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

from regraph_kg.errors import BadInput
from regraph_kg.evaluation.checkup.calibrate import MARGIN, Calibration, Trials, lower_bits
from regraph_kg.evaluation.checkup.findings import (
    Checkup,
    ProblemFinding,
    checked_once,
    error,
    note,
)
from regraph_kg.evaluation.checkup.unfit import crashing, trivial
from regraph_kg.evaluation.compile.compile import HOST_FLAGS, Compiler
from regraph_kg.evaluation.compile.toolchain import find_gcc
from regraph_kg.evaluation.problem.declaration import AbsoluteRule, Argument, TermsRule, size_of
from regraph_kg.evaluation.problem.memory import available_bytes
from regraph_kg.evaluation.problem.problem import Problem
from regraph_kg.evaluation.problem.rows import counted
from regraph_kg.evaluation.problem.types import C_TYPES
from regraph_kg.evaluation.rules import Failure, JudgeLimits

_ROUNDING, _LONG = 2.0**33, 2.0**24
"""Operations in a row beyond which a difference is no rounding (a tenth of the value in fp32); and
beyond which sums are better made in double than allowed for."""
_GIB = 2**30
_GUESS = 64  # operations in a row, of rows whose errors are not known
_WHOLE = "small-int"
_NAMES = {24: "fp32", 11: "fp16", 4: "fp8"}
_MEND = "a reference.cpp, or mend serial.cpp: is every variable set before it is read?"
_KEPT = 'role = "inout" where the function leaves what it does not write'
_SHORTEST, _LONGEST = 0.002, 2.0
"""Seconds of the serial code that make good measurements and quick verdicts."""


class Checker:
    """Checks problems on this machine; `cache` holds compiled code and findings."""

    def __init__(
        self, cache: Path, tell: Callable[[str], None], limits: JudgeLimits | None = None
    ) -> None:
        """`tell` gets a few words before each long step. Raises `ToolError` without a compiler."""
        self._cache, self._tell, self._limits = cache, tell, limits or JudgeLimits()
        self._compiler = Compiler(cache / "compiled", find_gcc(), self._limits)

    def check(self, problem: Problem) -> Checkup:
        free, needed = available_bytes(), problem.memory_bytes()
        if free is not None and needed > free:
            text = (
                f"judging takes about {needed / _GIB:.1f} GiB, {free / _GIB:.1f} GiB are free: end"
                " other programs, or make the timing shape smaller"
            )
            return Checkup(problem.name, (error("memory", text),), 0.0)
        return checked_once(self._cache, problem, lambda: self._look(problem))

    def _look(self, problem: Problem) -> Iterator[ProblemFinding]:
        """What the checks find, up to the first that finds an error."""
        with ExitStack() as opened:
            start = partial(Trials, problem, self._compiler, self._limits)
            trials = cache(lambda: opened.enter_context(start()))
            subject = Subject(problem, self._compiler, trials)
            for name, look in CHECKS:
                self._tell(f"{problem.name}: {name}")
                try:
                    found = list(look(subject))
                except BadInput as failed:
                    message = str(failed).removeprefix(f"problem {problem.name}: ")
                    found = [error("serial code", message)]
                yield from found
                if any(finding.severity == "error" for finding in found):
                    return


class Subject(NamedTuple):
    """A problem that is looked at, and what checks need of it."""

    problem: Problem
    compiler: Compiler
    trials: Callable[[], Trials]  # opened at the first use; raises `BadInput`


def _compiled(subject: Subject) -> Iterator[ProblemFinding]:
    """Whether each source compiles as C++."""
    problem = subject.problem
    sources = {"serial.cpp": problem.serial_code, problem.truth_name: problem.truth_code}
    for name, code in sources.items():
        result = subject.compiler.host(code, HOST_FLAGS)
        if isinstance(result, Failure):
            diagnosis = result.diagnosis.replace("candidate.cpp", name)
            is_c = "restrict" in diagnosis or "conversion from 'void*'" in diagnosis
            remedy = "__restrict__ for restrict, a cast of what malloc returns: it is C++"
            text = f"does not compile: {diagnosis.splitlines()[0]}"
            yield error(name, text, remedy if is_c else "")
            return


def _declared(subject: Subject) -> Iterator[ProblemFinding]:
    """Whether the signatures are those that problem.toml declares."""
    problem, compiler = subject.problem, subject.compiler
    difference = mismatch(problem, problem.serial_code, compiler, "serial.cpp")
    if difference is None and problem.reference_code is not None:
        wide = problem.promoted()
        difference = mismatch(wide, problem.reference_code, compiler, "reference.cpp")
    if difference:
        yield difference


def _values(subject: Subject) -> Iterator[ProblemFinding]:
    """A note where nothing shows that floats are held in fewer bits, but what comes last."""
    inputs = subject.problem.inputs
    drawn = [arg for arg in inputs if arg.is_inexact and not (arg.is_custom or arg.fields)]
    if drawn and all(set(arg.values) == {_WHOLE} for arg in drawn):
        text = f"floats are drawn as {_WHOLE} only, which a copy in 8 bits holds exactly"
        yield note("values", text, f'values = ["normal", "{_WHOLE}"]')


def _seconds(subject: Subject) -> Iterator[ProblemFinding]:
    seconds = subject.trials().calibration.serial_seconds
    if not _SHORTEST <= seconds <= _LONGEST:
        text = f"serial.cpp takes {seconds:.2g} s; {_SHORTEST:g} to {_LONGEST:g} s is good"
        yield note("timing shape", text, "time = { .. } with larger or smaller sizes")


def _tolerance(subject: Subject) -> Iterator[ProblemFinding]:
    """Whether the serial code passes, with room, and a lower precision does not."""
    problem, calibration = subject.problem, subject.trials().calibration
    if not calibration.admits:
        write = _wider(problem, calibration)
        if calibration.own > 1:
            errors = "; ".join(calibration.wrong.split("; ")[:2])
            message = f"serial.cpp fails its own check at {calibration.where}: {errors}"
            unset = "never written" in calibration.wrong
            yield error("tolerance", message, _KEPT if unset else write or _MEND)
        else:
            share = f"{calibration.honest:.2g} of it; 0.25 is safe"
            message = f"the serial code's own rounding, its sums reordered, takes {share}"
            yield note("tolerance", message, write)
    elif calibration.separates != problem.separates:
        lower = _NAMES[lower_bits(problem)]
        message = f"a candidate that computes in {lower} errs by {calibration.lower:.2g} tolerances"
        if calibration.separates:
            yield note("separates", f"{message}: it is found", "separates = true")
        else:
            remedy = "separates = false, or a narrower tolerance"
            yield note("separates", f"{message}: it passes", remedy)


Look = Callable[[Subject], Iterator[ProblemFinding]]
# Cheap ones first: an error ends the look. Each finding has its own remedy, a line to write.
CHECKS: tuple[tuple[str, Look], ...] = (
    ("compiling the serial code", _compiled),
    ("its signature", _declared),
    ("its values", _values),
    ("how long it takes", _seconds),
    ("truths and tolerance", _tolerance),
    ("what its inputs and outputs say", lambda subject: trivial(subject.trials())),
    ("inputs that it does not stand", lambda subject: crashing(subject.trials())),
)


def _wider(problem: Problem, calibration: Calibration) -> str:
    """A line of problem.toml with a tolerance that has room; "" where none of the kind is known."""
    terms = calibration.terms
    if counted(problem):  # whose errors are not known where they are wrong: a guess
        terms = max(terms, _GUESS)
    if not terms <= _ROUNDING:
        return ""
    line, _ = suggested(problem, calibration, terms)
    return f"sums in double in serial.cpp, or {line}" if terms > _LONG else line


def suggested(
    problem: Problem, calibration: Calibration, terms: float
) -> tuple[str, TermsRule | AbsoluteRule]:
    """A tolerance that allows the rounding of `terms` operations in a row, and how to write it."""
    rule = problem.tolerance
    if isinstance(rule, AbsoluteRule) or not any(arg.is_inexact for arg in problem.results):
        least = 2 * rule.absolute if isinstance(rule, AbsoluteRule) else 1.0
        allowed = float(f"{1.05 * MARGIN * calibration.off:.0e}")
        most = AbsoluteRule(absolute=max(allowed, least))
        return f"tolerance = {{ absolute = {most.absolute:g} }}", most
    wider = TermsRule(rule="conditioned", terms=str(_power(terms)))
    if isinstance(rule, TermsRule):
        times = max(4, _power(terms / max(1, size_of(rule.terms, problem.sizes.time))))
        wider = TermsRule(rule=rule.rule, terms=f"{times}*({rule.terms})")
    return f'tolerance = {{ rule = "{wider.rule}", terms = "{wider.terms}" }}', wider


def _power(number: float) -> int:
    """The next power of two, 1 at least."""
    return 1 << max(0, int(number) - 1).bit_length() if number > 1 else 1


_FLAGS = ("-std=c++17", "-O0", "-march=native")
_ACTUAL = re.compile(r"regraph_same<false, (.*)>'")
_CHECK = Path(__file__).with_name("signature.hpp").read_text("utf-8")


def mismatch(problem: Problem, code: str, compiler: Compiler, name: str) -> ProblemFinding | None:
    """An error where `code`, which compiles, is not as declared; `name` is that of its file."""
    returned = C_TYPES[problem.returns.type] if problem.returns else "void"
    types = ", ".join(f"{arg.spelled()}{'*' if arg.is_array else ''}" for arg in problem.args)
    check = _CHECK % {"entry": problem.entry, "declared": f"{returned} (*)({types})"}
    result = compiler.host(code + check + "".join(map(_layout, problem.args)), _FLAGS)
    if not isinstance(result, Failure):
        return _swapped(problem, code, name)
    for arg in problem.args:
        if arg.struct and f"regraph_layout_{arg.struct}" in result.diagnosis:
            declared = ", ".join(f"{kind} {name}" for name, kind in (arg.fields or {}).items())
            text = f"struct {arg.struct} of {name} has not the fields {declared}, in this order"
            return error("signature", text, f"fields of [[args]] {arg.name} as {name} has them")
    actual = _ACTUAL.search(result.diagnosis)
    if actual:
        text = f"{problem.entry} of {name} is {actual[1].replace('(*)', problem.entry)}"
    else:
        first = result.diagnosis.splitlines()[:1] or ["no message"]
        reason = first[0].rpartition("error: ")[2][:200]
        text = f"{name} has no such function {problem.entry} ({reason})"
    return error("signature", text, problem.signature())


def _layout(arg: Argument) -> str:
    """C++ that asserts the declared layout of a struct."""
    if not arg.struct or not arg.fields:
        return ""
    places = dict(arg.dtype.fields or {})
    each = [
        f"regraph_signature::alike<decltype({arg.struct}::{name}), {C_TYPES[kind]}>"
        f" && offsetof({arg.struct}, {name}) == {places[name][1]}"
        for name, kind in arg.fields.items()
    ]
    size = f"sizeof({arg.struct}) == {arg.dtype.itemsize}"
    return f'static_assert({" && ".join([size, *each])}, "regraph_layout_{arg.struct}");\n'


def _swapped(problem: Problem, code: str, name: str) -> ProblemFinding | None:
    """An error where parameters of serial.cpp have the declared names, in another order."""
    match = re.search(rf"\b{problem.entry}\s*\(([^(){{}};]*)\)\s*(?:noexcept\s*)?\{{", code)
    words = [re.findall(r"[A-Za-z_]\w*", part) for part in match[1].split(",")] if match else []
    names = [part[-1] if part else "" for part in words]
    declared = [arg.name for arg in problem.args]
    if names == declared or sorted(names) != sorted(declared):
        return None
    text = f"{name} names its arguments {', '.join(names)}, problem.toml {', '.join(declared)}"
    return error("signature", text, f"[[args]] in the order {', '.join(names)}")
