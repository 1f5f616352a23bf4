"""The story of `regraph problem new`: a draft that says everything becomes a problem's files.

Compiled, sized and calibrated by the judge's own parts: the code runs confined, and nowhere else.
"""

import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from regraph_kg.adopt.adapter import Plain
from regraph_kg.adopt.draft import Draft
from regraph_kg.adopt.integers import filling, standing
from regraph_kg.adopt.overruns import look
from regraph_kg.adopt.refusals import own_line, uncompiled
from regraph_kg.adopt.sizes import (
    PATIENCE_SECONDS,
    all_finite,
    check_shapes,
    is_quick,
    relations,
    timing_shape,
)
from regraph_kg.adopt.texts import home, problem_fields, serial_code, toml
from regraph_kg.errors import BadInput, ToolError
from regraph_kg.evaluation.checkup.calibrate import calibrate
from regraph_kg.evaluation.checkup.checkup import Checker, suggested
from regraph_kg.evaluation.compile.compile import HOST_FLAGS, Compiler
from regraph_kg.evaluation.compile.toolchain import find_gcc
from regraph_kg.evaluation.problem import home as homes
from regraph_kg.evaluation.problem.declaration import shape_text
from regraph_kg.evaluation.problem.problem import Problem, mistaken
from regraph_kg.evaluation.rules import Failure, JudgeLimits
from regraph_kg.evaluation.worker.runner import RunFailed
from regraph_kg.models.evaluation import Outcome

_MOST_ENDS = 4  # arrays whose indices integers are tried as
_ROW_LENGTH = 8  # elements of a row where lengths do not say it
_WHOLE_SECONDS = 2.0  # a call with all integers of a type may take: then small ones are tried
_MOST_HALVED = 6  # how often shapes to check are halved for their time's sake
_ROUNDS, _ROUNDING = 3, 2.0**33
"""Tolerances that are tried; operations in a row beyond which a difference is no rounding."""


@dataclass(frozen=True, slots=True)
class Adopted:
    """A problem that can be written, and what became known on the way."""

    problem: Problem
    files: Mapping[str, str]  # file name -> text
    seconds: float  # what the serial code takes at the timing shape
    left_out: tuple[str, ...]  # headers that are not here and not needed
    notes: tuple[str, ...]  # what was found when it ran, and what follows for its sizes and inputs


class OutOfArray(BadInput):
    """The function reads or writes beyond an array, or memory that is not its own."""


class Adopter:
    """Makes problems of drafts on this machine; `cache` holds compiled code."""

    def __init__(self, cache: Path, tell: Callable[[str], None]) -> None:
        """`tell` hears what takes long. Raises `ToolError` without a compiler."""
        self._tell, self._limits = tell, JudgeLimits()
        self._gcc = find_gcc()
        self._compiler = Compiler(cache / "compiled", self._gcc, self._limits)
        self._checker = Checker(cache, tell, self._limits)

    def adopt(self, draft: Draft, name: str, folder: Path) -> Adopted:
        """A problem for `folder`; `BadInput` where its code does not compile or run to its end."""
        try:
            return self._adopted(draft, name, folder)
        except OutOfArray as first:
            told = draft.said.shapes
            # with lengths of their own, and with one that is said over other names
            owns = [name for name in draft.names if draft.shape(name) == (f"{name}_size",)]
            others = [name for name, shape in told.items() if shape != (f"{name}_size",)]
            for own, other in product(owns, others):
                shapes = told | {own: told[other]}
                with suppress(BadInput):
                    made = self._adopted(_saying(draft, shapes=shapes), name, folder)
                    note = f"{own}: as long as {other}, since it fails with another length"
                    return replace(made, notes=(note, *made.notes))
            raise first from None

    def _adopted(self, draft: Draft, name: str, folder: Path) -> Adopted:
        """The same, with the lengths that the draft has."""
        plain = draft.plain()
        self._notes = list[str]()
        self._tell(f"{name}: compiling the serial code")
        plain, code = self._adapted(draft, plain)
        for halved in range(_MOST_HALVED):  # until it takes little time at shapes to check
            draft = _saying(draft, halved=halved)
            if is_quick(_problem(draft, plain, name, code), self._compiler, self._limits):
                break
        draft = self._tried(draft, plain, name, code)
        fields = problem_fields(draft, plain, name)
        problem, fields, seconds = self._sized(draft, fields, code)
        problem, fields = self._integers(problem, fields)
        said = draft.said.tolerance
        fields = fields | {"tolerance": said} if said else self._tolerated(problem, fields)
        problem = _validated(fields, code)
        whole = filling(problem) - draft.said.narrow
        if whole and any(one.about == "output" for one in self._checker.check(problem).errors):
            # of all integers of a type next to none is what the code compares them with
            return self._adopted(_saying(draft, narrow=whole), name, folder)
        kept = home(draft, plain, folder).model_dump(by_alias=True)
        files = {"problem.toml": toml(fields), "serial.cpp": code, homes.FILE: toml(kept)}
        return Adopted(problem, files, seconds, draft.read.left_out, tuple(self._notes))

    def _adapted(self, draft: Draft, plain: Plain) -> tuple[Plain, str]:
        """With views of vectors, or with copies where the function needs more than a view."""
        owned = [replace(one, is_owned=True) if one.viewed else one for one in plain.given]
        try:
            return plain, self._compiled(draft, serial_code(draft, plain))
        except BadInput:
            if owned == plain.given:
                raise
        copied = replace(plain, given=owned)
        code = self._compiled(draft, serial_code(draft, copied))
        names = ", ".join(one.name for one in plain.given if one.viewed)
        self._notes.append(
            f"{names}: copied in each call, since the function needs vectors; its time holds that"
        )
        return copied, code

    def _compiled(self, draft: Draft, code: str) -> str:
        """The code. Raises `BadInput` where it does not compile."""
        built = self._compiler.host(code, HOST_FLAGS)
        if isinstance(built, Failure):
            raise uncompiled(draft.read.function, built.diagnosis, draft.read.left_out)
        return code

    def _sized(
        self, draft: Draft, fields: dict[str, Any], code: str
    ) -> tuple[Problem, dict[str, Any], float]:
        """With shapes to check, and one to time."""
        given, sizes = draft.said.sizes, _sizes(draft)
        fields = fields | {"sizes": sizes}
        problem = _validated(fields, code)
        if set(given) == set(draft.sizes):
            return problem, fields, 0.0
        judge, powers = (self._compiler, self._limits, self._tell), draft.said.powers
        grown, seconds = timing_shape(problem, *judge, kept=given, powers=powers)
        fields = fields | {"sizes": sizes | {"time": grown}}
        return _validated(fields, code), fields, seconds

    def _tried(self, draft: Draft, plain: Plain, name: str, code: str) -> Draft:
        """With sizes and inputs at which the function works. Raises `BadInput` where none are."""

        def finite(draft: Draft) -> bool:
            problem = _problem(draft, plain, name, code)
            # what a loop counts to may be among them: with small ones it ends at once
            patience = _WHOLE_SECONDS if filling(problem) else PATIENCE_SECONDS
            try:
                is_finite = all_finite(problem, self._compiler, self._limits, patience)
            except BadInput as failed:
                if not (isinstance(failed, RunFailed) and failed.outcome is Outcome.TIMED_OUT):
                    self._within(draft, problem)  # which says more of a crash
                raise
            self._within(draft, problem)
            return is_finite

        whole = filling(_problem(draft, plain, name, code))
        try:
            is_finite = finite(draft)
        except BadInput as first:
            draft, is_finite = self._otherwise(draft, whole, first, finite)
        if whole and not draft.said.narrow and not is_finite:
            with suppress(BadInput):
                narrow = _saying(draft, narrow=whole)
                is_finite = finite(narrow)
                draft = narrow if is_finite else draft
        if is_finite:
            return draft
        positive = _saying(draft, positive=True)
        if finite(positive):
            self._notes.append("it gives no numbers for negative ones, so it is given none")
            return positive
        self._notes.append(
            "its results hold NaN or infinity for random inputs; say what it works on with"
            " --values and --shape, or let an inputs.py make them"
        )
        return draft

    def _otherwise(
        self, draft: Draft, whole: frozenset[str], first: BadInput, finite: Callable[[Draft], bool]
    ) -> tuple[Draft, bool]:
        """A draft at which it works, and whether it gives numbers; else raises `first`."""
        tries: list[tuple[str, dict[str, Any]]] = []
        if draft.starts:
            text = f"no row begins at the end in {', '.join(draft.starts)}, where it fails"
            tries.append((text, {"inside": True}))
        if whole:
            text = f"{', '.join(sorted(whole))}: small integers, since it fails with all of a type"
            tries.append((text, {"narrow": whole}))
        tries += self._indexing(draft, whole)
        # powers of two are one size for all: arrays too short would be long enough
        if not (isinstance(first, OutOfArray) and len(draft.sizes) > 1):
            text = "it fails unless sizes are powers of two, so they are"
            tries.append((text, {"powers": True}))
        for text, said in tries:
            other = _saying(draft, **said)
            with suppress(BadInput):
                is_finite = finite(other)
                self._notes.append(f"{text}: {str(first).partition('; ')[0]}")
                return other, is_finite
        raise first

    def _indexing(
        self, draft: Draft, whole: frozenset[str]
    ) -> Iterator[tuple[str, dict[str, Any]]]:
        """Ranges of integers that may be indices which nobody saw: of each array's elements."""
        open_ = sorted(name for name in whole if name not in draft.starts)
        # of starts, the last of which begins nothing, first
        names = sorted(draft.names, key=lambda name: name not in draft.starts)
        ends = [f"{draft.length(n)} - {1 + (n in draft.starts)}" for n in names]
        ends = [text.replace(" + 1 - 2", " - 1") for text in ends if not text[0].isdigit()]
        for end in [*dict.fromkeys(ends)][:_MOST_ENDS] if open_ else ():
            ranges = {name: (f"0..{end}",) for name in open_}
            told = f"{', '.join(open_)}: integers up to {end}, since it fails with others"
            yield told, {"values": {**draft.said.values, **ranges}}

    def _within(self, draft: Draft, problem: Problem) -> None:
        """Raise `OutOfArray` where the code leaves an array, as far as this machine can tell."""
        try:
            looked = look(problem, self._gcc)
        except ToolError as error:
            note = f"whether it leaves its arrays was not looked for: {error}"
            if note not in self._notes:
                self._notes.append(note)
            return
        if looked is not None:
            function = draft.read.function
            shown = ["", *problem.serial_code.split("\n")][looked.line]  # 0: nobody knows which
            raise OutOfArray(
                f"{function.source.path}{own_line(function, shown)}:"
                f" {function.qualified} {looked.what} at {shape_text(looked.sizes)}; say how long"
                " its arrays are with --shape NAME=LENGTH (one length for those that one index"
                " reads), or what is in them with --values"
            )

    def _integers(self, problem: Problem, fields: dict[str, Any]) -> tuple[Problem, dict[str, Any]]:
        """With ranges of integers beyond which the function overflows."""
        self._tell(f"{problem.name}: which integers it stands")
        found, told = standing(problem, self._compiler, self._limits), list[dict[str, Any]]()
        for before, after, arg in zip(problem.args, found.args, fields["args"], strict=True):
            now = {"range": after.range, "ranges": after.ranges}
            changed = {field: now[field] for field in now if now[field] != getattr(before, field)}
            kept = {k: v for k, v in arg.items() if k != "limits_guessed" or after.limits_guessed}
            told.append(kept | changed)
            if changed:
                known = before.ranges or {}
                own = [ends for field, ends in (after.ranges or {}).items() if field not in known]
                low, high = after.range or own[0]
                text = f"{after.name}: integers from {low} to {high}: the function overflows beyond"
                self._notes.append(text)
        return found, fields | {"args": told}

    def _tolerated(self, problem: Problem, fields: dict[str, Any]) -> dict[str, Any]:
        """With a tolerance that admits the serial code in any order of its sums."""
        if not any(arg.is_inexact for arg in problem.results):
            fields = fields | {"tolerance": "exact"}
            problem = problem.model_copy(update={"tolerance": "exact"})
        seen = self._checker.check(problem).findings
        if not any(found.about in ("tolerance", "separates") for found in seen):
            return fields
        self._tell(f"{problem.name}: calibrating the tolerance")
        found = calibrate(problem, self._compiler, self._limits)
        terms, added = found.terms, dict[str, Any]()
        for _ in range(_ROUNDS):
            if found.admits or not terms < _ROUNDING:
                break
            _, rule = suggested(problem, found, terms)
            added = {"tolerance": rule.model_dump()}
            problem = problem.model_copy(update={"tolerance": rule})
            found = calibrate(problem, self._compiler, self._limits)
            terms = max(4 * terms, found.terms)
        if not found.admits:
            return fields
        return fields | added | ({} if found.separates else {"separates": False})


def _saying(draft: Draft, **said: Any) -> Draft:
    """The draft, had this been said as well."""
    return Draft(draft.read, replace(draft.said, **said))


def _sizes(draft: Draft) -> dict[str, Any]:
    """`[sizes]` as long as nothing was timed."""
    extents = [text for name in draft.names for text in draft.shape(name)]
    highs = [arg["range"][1] for arg in draft.arguments() if "range" in arg]
    ends = [found for high in highs if (found := re.fullmatch(r"(.*) - (\d+)", str(high)))]
    # of each range there must be an integer
    extents += [f"{end[1]} - {int(end[2]) - 1}" for end in ends if int(end[2]) > 1]
    lengths = filter(None, map(draft.length, draft.names))
    names, said = list(draft.sizes), draft.said
    check = check_shapes(names, extents, lengths, powers=said.powers, halved=said.halved)
    rows = [name for name, told in draft.sizes.items() if told.endswith("]")]  # of a sparse matrix
    check = [{**at, **{name: _ROW_LENGTH * at[name] for name in rows}} for at in check]
    sizes: dict[str, Any] = {"check": check, "time": {**check[-1], **draft.said.sizes}}
    return sizes | ({"require": relations(extents)} if relations(extents) else {})


def _problem(draft: Draft, plain: Plain, name: str, code: str) -> Problem:
    """The problem as long as nothing was timed."""
    return _validated(problem_fields(draft, plain, name) | {"sizes": _sizes(draft)}, code)


def _validated(fields: Mapping[str, Any], code: str) -> Problem:
    try:
        return Problem.model_validate({**fields, "serial_code": code})
    except ValidationError as error:
        raise mistaken(Path(fields["name"]), error) from None


def write(files: Mapping[str, str], folder: Path) -> None:
    """Write a problem's files into a folder that is new or empty. Raises `BadInput`."""
    made = not folder.exists()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise BadInput(f"{folder}: there is something in it already; give another with --to")
        for name, text in files.items():
            (folder / name).write_text(text, "utf-8")
    except OSError as error:
        if made:
            shutil.rmtree(folder, ignore_errors=True)
        raise BadInput(f"{folder}: {error.strerror}; give another folder with --to") from None
