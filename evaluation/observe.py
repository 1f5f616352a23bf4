"""What the iterations of each loop of a serial code share, as runs at check shapes show.

The code itself runs, with a call where it reads or writes memory (observe.cpp); it tells what it
has seen in one more output. So templates, constructors and callbacks are seen through as well as
arrays. It is no proof: other inputs may have other iterations meet. Not covered: code that calls
what nothing marks, such as input and output, random numbers and `std::string`.
"""

import hashlib
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import numpy as np
from pydantic import TypeAdapter, ValidationError

from regraph_kg import atomic
from regraph_kg.cpp.facts import Facts, facts_of
from regraph_kg.cpp.watched import MEMORY, WatchedLoop, watched, with_comments
from regraph_kg.errors import BadInput
from regraph_kg.evaluation.compile.compile import Compiler
from regraph_kg.evaluation.compile.toolchain import find_gcc
from regraph_kg.evaluation.problem.inputs import factors, generate, variant_of
from regraph_kg.evaluation.problem.problem import Argument, Array, Problem, Sizes
from regraph_kg.evaluation.rules import Failure, JudgeLimits
from regraph_kg.evaluation.worker.runner import Runner
from regraph_kg.evaluation.worker.spawn import Program

SITES = 64  # loops of a code; as in observe.cpp
_TOLD, _ENTRY = "regraph_seen", "regraph_watched"
_RUNS, _FEWEST = 4, 3  # calls at most; iterations without which a loop shows nothing
_MOST_BYTES, _PATIENCE_SECONDS = 4 * 2**20, 10.0
_SEEN = TypeAdapter(dict[int, tuple[str, ...]])


def observed(cache: Path, problem: Problem) -> str:
    """The problem's serial code, with a comment in each loop of which its text tells too little.

    What was seen is kept in `cache`.
    """
    code = problem.serial_code
    unclear = {*_unclear(facts_of(code, problem.entry))}
    if not unclear:
        return code
    key = hashlib.sha256(f"1 {find_gcc().version} {problem.model_dump_json()}".encode()).hexdigest()
    entry = cache / "seen" / f"{key}.json"
    with suppress(OSError, ValidationError):
        return with_comments(code, _SEEN.validate_json(entry.read_bytes()))
    seen = {at: names for at, names in _look(cache, problem).items() if at in unclear}
    with suppress(OSError):  # another look costs seconds
        entry.parent.mkdir(parents=True, exist_ok=True)
        atomic.write(entry, _SEEN.dump_json(seen))
    return with_comments(code, seen)


def _unclear(facts: Facts) -> Iterator[int]:
    """The loops that may be shared out, or not: no loop around them is."""
    for loop in facts.loops:
        chain, above = [loop.carries], loop.parent
        while above >= 0:
            chain.append(facts.loops[above].carries)
            above = facts.loops[above].parent
        if loop.carries == "unknown" and "no" not in chain:
            yield loop.at


def _look(cache: Path, problem: Problem) -> dict[int, tuple[str, ...]]:
    """What the iterations of loops share, by the bytes before each; nothing where that fails."""
    text, loops = watched(problem.serial_code, SITES)
    limits = JudgeLimits()
    with closing(Compiler(cache / "compiled", find_gcc(), limits)) as compiler:
        library = compiler.watched(text + _entry(problem)) if loops else None
        if library is None or isinstance(library, Failure):
            return {}
        told = Argument(name=_TOLD, type="int64", role="out", shape=(f"{3 * SITES + 1}",))
        changed = {"entry": _ENTRY, "args": (*problem.args, told)}
        of = problem.model_copy(update=changed)
        program = Program(compiler.harness(of), library, _ENTRY)
        shapes = _shapes(problem)
        with closing(Runner(of, program, shapes, limits, "the watched serial code")) as runner:
            runner.patience = _PATIENCE_SECONDS
            return _merged(loops, _told(runner, problem, shapes))


def _entry(problem: Problem) -> str:
    """A function that calls the serial code, and then tells what was seen."""
    head = problem.signature().replace(f" {problem.entry}(", f" {_ENTRY}(", 1)
    given = ", ".join(arg.name for arg in problem.args)
    call = f"{problem.entry}({given}); regraph_told({_TOLD});"
    result = f"auto result_ = {call} return result_;" if problem.returns else call
    return f"\n{head[:-1]}{', ' * bool(problem.args)}long *{_TOLD}) {{ {result} }}\n"


def _shapes(problem: Problem) -> list[Sizes]:
    """The largest check shapes that are small enough to be watched."""
    small = [one for one in problem.sizes.check if problem.nbytes(one) <= _MOST_BYTES]
    return sorted(small, key=problem.elements)[-_RUNS:]


def _told(runner: Runner, problem: Problem, shapes: list[Sizes]) -> Iterator[Array]:
    """What calls tell, each with another distribution of the inputs."""
    counts = factors(problem)
    for turn, sizes in enumerate(shapes):
        variant = variant_of(problem, [turn % count for count in counts])
        try:
            yield runner(sizes, generate(problem, sizes, variant, 1))[_TOLD]
        except BadInput:
            return


def _merged(loops: list[WatchedLoop], told: Iterator[Array]) -> dict[int, tuple[str, ...]]:
    """What was shared in any call, for loops with enough iterations in calls seen whole."""
    most, shared = np.zeros(SITES, np.int64), np.zeros((SITES, 2), np.int64)
    for one in told:
        sites = one[:-1].reshape(SITES, 3)
        shared |= sites[:, 1:]
        if one[-1] == 0:
            most = np.maximum(most, sites[:, 0])
    found = dict[int, tuple[str, ...]]()
    for loop, count, (memory, bits) in zip(loops, most, shared, strict=False):
        names = [name for number, name in enumerate(loop.names) if int(bits) >> number & 1]
        if count >= _FEWEST:
            found[loop.at] = (*names, *[MEMORY] * bool(memory))
    return found
