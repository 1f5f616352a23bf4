"""What the iterations of each loop of a serial code share, as calls at check shapes show.

The code itself runs, and calls watch.cpp where it reads or writes memory; what that has seen is one
more output. So templates, constructors and callbacks are seen through as well as arrays. It is no
proof: with other inputs iterations may meet. Not covered: code that calls what nothing marks, such
as input and output, random numbers and `std::string`.
"""

import hashlib
import re
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import numpy as np
from pydantic import TypeAdapter, ValidationError

from regraph_kg import atomic
from regraph_kg.cpp.facts import Facts, facts_of
from regraph_kg.cpp.watched import MEMORY, SUMS, WatchedLoop, watched, with_comments
from regraph_kg.errors import BadInput, ToolError
from regraph_kg.evaluation.compile.compile import Compiler
from regraph_kg.evaluation.compile.toolchain import find_gcc
from regraph_kg.evaluation.problem.declaration import Argument, Sizes
from regraph_kg.evaluation.problem.inputs import factors, generate, variant_of
from regraph_kg.evaluation.problem.problem import Problem
from regraph_kg.evaluation.problem.types import Array
from regraph_kg.evaluation.rules import Failure, JudgeLimits
from regraph_kg.evaluation.worker.runner import Runner
from regraph_kg.evaluation.worker.spawn import Program

SITES = 64  # loops of a code; watch.cpp has the same
_TOLD, _ENTRY = "regraph_seen", "regraph_watched"
_CALLS, _FEWEST = 4, 3  # calls at most; iterations without which a loop shows nothing
_MOST_BYTES, _PATIENCE_SECONDS = 4 * 2**20, 5.0
_LAST_WORDS = re.compile(r'std::fputs\("[^"\n]*", stderr\), (?=std::abort\(\);)')
"""What the entry of an adopted function says before it ends a call, which returns nothing then."""
_VERSION = "4"  # of what is kept
_Shared = dict[int, tuple[str, ...]]  # bytes before a loop -> what its iterations share
_KEPT = TypeAdapter(_Shared)


def with_seen(cache: Path, problem: Problem) -> str:
    """The serial code with a comment in each loop that was watched, as its text tells too little.

    What was seen is kept in `cache`. Without a compiler the code is as it is.
    """
    code = problem.serial_code
    unclear = {*_unclear(facts_of(code, problem.entry))}
    if not unclear:
        return code
    key = hashlib.sha256(f"{_VERSION} {problem.model_dump_json()}".encode()).hexdigest()
    entry = cache / "seen" / f"{key}.json"
    with suppress(OSError, ValidationError):
        return with_comments(code, _KEPT.validate_json(entry.read_bytes()))
    try:
        seen = look(cache, problem)
        loops = {at: names for at, names in seen.items() if at in unclear}
        sums = {at: names for at, names in seen.items() if names == (SUMS,)}
        seen = loops | (sums if any(SUMS in it for it in loops.values()) else {})
    except ToolError:
        return code
    except BadInput:  # it fails, or takes too long: so it would again
        seen = {}
    with suppress(OSError):  # another look costs seconds
        entry.parent.mkdir(parents=True, exist_ok=True)
        atomic.write(entry, _KEPT.dump_json(seen))
    return with_comments(code, seen)


def _unclear(facts: Facts) -> Iterator[int]:
    """Loops of which the text does not tell whether threads can share them, nor any around them."""
    by_number = {loop.number: loop for loop in facts.loops}
    for loop in facts.loops:
        chain, above = [loop.carries], by_number.get(loop.parent)
        while above is not None:
            chain.append(above.carries)
            above = by_number.get(above.parent)
        if loop.carries == "unknown" and "no" not in chain:
            yield loop.at


def look(cache: Path, problem: Problem) -> _Shared:
    """What the iterations of all loops share; nothing where that cannot be watched."""
    text, loops, sums = watched(problem.serial_code, SITES)
    limits = JudgeLimits()
    with closing(Compiler(cache / "compiled", find_gcc(), limits)) as compiler:
        text = _LAST_WORDS.sub("", f"{text}{_entry(problem)}")
        library = compiler.watched(text) if loops else None
        if library is None or isinstance(library, Failure):
            return {}
        told = Argument(name=_TOLD, type="int64", role="out", shape=(f"{4 * SITES + 1}",))
        changed = {"entry": _ENTRY, "args": (*problem.args, told)}
        telling = problem.model_copy(update=changed)
        program, shapes = Program(compiler.harness(telling), library, _ENTRY), _shapes(problem)
        with closing(Runner(telling, program, shapes, limits, "the watched serial code")) as runner:
            runner.patience = _PATIENCE_SECONDS
            return _merged(loops, sums, _told(runner, problem, shapes))


def _entry(problem: Problem) -> str:
    """A function that calls the serial code, and then tells what was seen."""
    head = problem.signature().replace(f" {problem.entry}(", f" {_ENTRY}(", 1)
    given = ", ".join(arg.name for arg in problem.args)
    call = f"{problem.entry}({given}); regraph_told({_TOLD});"
    result = f"auto result_ = {call} return result_;" if problem.returns else call
    return f"\n{head[:-1]}, long *{_TOLD}) {{ {result} }}\n"


def _shapes(problem: Problem) -> list[Sizes]:
    """The largest check shapes that are small enough to be watched."""
    small: list[Sizes] = [one for one in problem.sizes.check if problem.nbytes(one) <= _MOST_BYTES]
    return sorted(small, key=problem.elements)[-_CALLS:]


def _told(runner: Runner, problem: Problem, shapes: list[Sizes]) -> Iterator[Array]:
    """What calls tell, each on another distribution of the inputs."""
    counts = factors(problem)
    for turn, sizes in enumerate(shapes):
        variant = variant_of(problem, [turn % count for count in counts])
        inputs = generate(problem, sizes, variant, 1)
        try:
            yield runner(sizes, inputs)[_TOLD]
        except BadInput:  # it takes too long: smaller shapes have told
            return


def _merged(loops: list[WatchedLoop], sums: list[int], told: Iterator[Array]) -> _Shared:
    """What was shared in any call, for loops with enough iterations in calls seen whole."""
    most, shared = np.zeros(SITES, np.int64), np.zeros((SITES, 3), np.int64)
    for one in told:
        sites = one[:-1].reshape(SITES, 4)
        shared |= sites[:, 1:]
        if one[-1] == 0:
            most = np.maximum(most, sites[:, 0])
    found = dict[int, tuple[str, ...]]()
    for loop, count, (memory, bits, adds) in zip(loops, most, shared, strict=False):
        names = [name for number, name in enumerate(loop.names) if int(bits) >> number & 1]
        names += [MEMORY] if memory else [SUMS] * bool(adds)
        if count >= _FEWEST:
            found[loop.at] = (*dict.fromkeys(names),)
            added = [at for number, at in enumerate(sums) if int(adds) >> number & 1]
            found |= dict.fromkeys(added, (SUMS,))
    return found
