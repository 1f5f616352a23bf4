"""A run's answer as changes of its user's files.

With a home (home.toml), the user's function calls the answer's entry, and the answer stands in a
file of its own beside it; without one the answer is a file. Nothing here runs any code.
Not covered: the build of the user's project.
"""

import hashlib
import re
import textwrap
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

from regraph_kg import locks, report
from regraph_kg.cpp.functions import functions, parsed
from regraph_kg.errors import BadInput
from regraph_kg.evaluation.problem.home import Home
from regraph_kg.evaluation.problem.problem import Problem
from regraph_kg.models.evaluation import EvalReport
from regraph_kg.models.run import StepRecord
from regraph_kg.models.target import TARGETS
from regraph_kg.models.text import plain, times
from regraph_kg.runs.home_changes import HomeChange, content_of
from regraph_kg.search.run_record import RunRecord

WIDTH = 98  # characters of a comment's line
_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include\b.*\n?", re.MULTILINE)
_MARK = b"// regraph: "  # first characters of the files that this module makes


class RunAnswer(NamedTuple):
    """The answer of a run, its verdict, and its code without invisible characters."""

    run: RunRecord
    step: StepRecord
    verdict: EvalReport
    code: str


def found_code(run: RunRecord) -> RunAnswer:
    """The run's answer; `BadInput` where there is none that can be trusted here."""
    path = run.path
    if not run.ours:
        raise BadInput(
            f"{path}: not written by this installation, so that its times are not believed; judge"
            f" its code here: regraph runs {path} --code, then regraph evaluate"
        )
    if locks.is_held(path):
        raise BadInput(f"{path}: its search goes on; wait for its end, or stop it")
    if not run.finished:
        raise BadInput(f"{path}: it has not ended; go on with regraph optimize --resume {path}")
    if run.answer is None:
        raise BadInput(f"{path}: it found nothing that is surely faster than the serial code")
    step, verdict = run.answer
    return RunAnswer(run, step, verdict, plain(step.code or ""))


def brought_home(answer: RunAnswer, problem: Problem, home: Home, folder: Path) -> list[HomeChange]:
    """Changes of the user's file, whose function calls the answer, and of the answer's own file."""
    path = home.path(folder)
    content = content_of(path)
    if content is None or not home.fits(content):
        why = "is no longer there" if content is None else "has changed since its problem was made"
        raise BadInput(f"{path}: {why}; make the problem anew (regraph problem new), or --to FILE")
    code, home = _renamed(answer.code, home, path)
    file = _answer_file(path, home.entry, TARGETS[answer.run.header.target].suffix)
    text = f"{answer_comment(answer, problem, home)}\n{_in_namespace(code, home.entry)}"
    return [
        HomeChange(path, content, _with_call(content, home, file.name)),
        HomeChange(file, _ours(file), text.encode()),
    ]


def _answer_file(path: Path, entry: str, suffix: str) -> Path:
    """The answer's file; it has the entry's name where another answer has the plain one."""
    file = path.with_name(f"{path.stem}_regraph{suffix}")
    content = content_of(file) or b""
    # the answer of another function of this file stays
    other = content.startswith(_MARK) and f"\nnamespace regraph_{entry} {{".encode() not in content
    return file.with_stem(f"{path.stem}_{entry}_regraph") if other else file


def put_into(answer: RunAnswer, problem: Problem, path: Path) -> list[HomeChange]:
    """The change of a file to the answer, or of the serial code in it."""
    content = content_of(path)
    text = f"{answer_comment(answer, problem, None)}\n{answer.code.rstrip()}\n"
    serial = problem.serial_code.strip().encode()
    if content is None or content.startswith(_MARK):
        return [HomeChange(path, content, text.encode())]
    if content.count(serial) != 1:
        raise BadInput(f"{path}: does not hold the problem's serial.cpp; give a new FILE with --to")
    return [HomeChange(path, content, content.replace(serial, text.strip().encode()))]


def answer_comment(answer: RunAnswer, problem: Problem, home: Home | None) -> str:
    """The comment of an answer: how fast, where, what was tested, what is assumed, by whom."""
    subject = f"{home.function} of {Path(home.file).name}" if home else problem.name
    tolerance = problem.tolerance
    rule = tolerance if isinstance(tolerance, str) else tolerance.model_dump_json()
    calls = "host pointers" if problem.metric == "call" else "pointers to the device's memory"
    assumed = [calls, *(home.assumes if home else ["arrays do not overlap"])]
    verdict, header = answer.verdict, answer.run.header
    interval = verdict.speedup_interval
    sure = f" (95 %: {interval.as_times})" if interval else ""
    lines = [
        f"regraph: {subject}, {times(verdict.speedup or 1)} as fast as its serial code{sure}",
        f"on {verdict.device}, by {verdict.toolchain}",
        f"{_tested_shapes(problem)}, {problem.precision}, tolerance {rule}",
        f"assumes: {'; '.join(assumed)}",
        f"found by regraph-kg {version('regraph-kg')}, {header.created[:10]}, {header.model}, run"
        f" {answer.run.path.name}; path: {report.path(answer.step.path) or 'none'}",
    ]
    return "\n".join(map(_harmless, lines))


def _tested_shapes(problem: Problem) -> str:
    """Tested shapes, and the only tested value of each plain scalar."""
    shapes = [", ".join(f"{k}={v}" for k, v in shape.items()) for shape in problem.sizes.check]
    timed = ", ".join(f"{name}={size}" for name, size in problem.sizes.time.items())
    secret = " and a secret shape between" if problem.held_out else ""
    fixed = [f"{arg.name}={arg.value}" for arg in problem.args if arg.value is not None]
    only = f", only ever with {', '.join(fixed)}" if fixed else ""
    return f"timed at {timed or 'its one shape'}; right at {'; '.join(shapes)}{secret}{only}"


def _with_call(content: bytes, home: Home, file: str) -> bytes:
    """The user's file, its function with a call of the entry before its own code."""
    # an include that is there twice is harmless, but nobody asked for it
    missing = [
        include for include in home.includes if f"#include {include}".encode() not in content
    ]
    above = [*(f"#include {include}" for include in missing), f"// in {file}", home.declaration]
    declared, wrapper = ("\n".join(above) + "\n\n").encode(), home.wrapper.encode()
    # the file keeps the ends of lines that most of it has
    if content.count(b"\r\n") * 2 > content.count(b"\n"):
        declared, wrapper = (text.replace(b"\n", b"\r\n") for text in (declared, wrapper))
    place, (start, end) = home.declare_at, home.replace
    return content[:place] + declared + content[place:start] + wrapper + content[end:]


def _renamed(code: str, home: Home, path: Path) -> tuple[str, Home]:
    """With names of C linkage, and macros that the build may set, that are this file's own."""
    above = ((one.name, one.outer.parent) for one in functions(parsed(path, code.encode())))
    linked = [n for n, a in above if a and "linkage" in f"{a.type} {a.parent and a.parent.type}"]
    mark = hashlib.sha256(f"{path.resolve()} {home.function}".encode()).hexdigest()[:8]
    words = "|".join({home.entry, *linked})
    name = partial(re.compile(rf"(?<!\.)(?<!->)\b({words})\b").sub, rf"\1_{mark}")
    texts = {field: name(getattr(home, field)) for field in ("entry", "declaration", "wrapper")}
    asked = "|".join(re.findall(r"SAME\((\w+)[,(]", home.wrapper)) or "(?!)"
    code = re.sub(rf"(?m)^[ \t]*#[ \t]*define[ \t]+({asked})\b", r"#undef \1\n\g<0>", code)
    return name(code), home.model_copy(update=texts)


def _in_namespace(code: str, entry: str) -> str:
    """The answer's includes, then the rest in a namespace, where names cannot collide."""
    # a header within a namespace would declare its names there
    includes = dict.fromkeys(line.strip() for line in _INCLUDE.findall(code))
    body = re.sub(r"\n{3,}", "\n\n", _INCLUDE.sub("", code)).strip()
    above = "".join(f"{include}\n" for include in includes)
    return f"{above}\nnamespace regraph_{entry} {{\n\n{body}\n\n}}  // namespace regraph_{entry}\n"


def _harmless(line: str) -> str:
    """A line as comment lines that no text in it can end."""
    text = plain(line).replace("\n", " ").replace("\\", "/")
    text = text.replace("??/", "///")  # a trigraph of the same
    parts = textwrap.wrap(text, WIDTH, break_long_words=False, subsequent_indent="  ")
    return "\n".join(f"// {part}" for part in parts)


def _ours(path: Path) -> bytes | None:
    """The file's content if this made it; None where there is none. Raises `BadInput`."""
    content = content_of(path)
    if content is not None and not content.startswith(_MARK):
        raise BadInput(f"{path}: is there already, and not of regraph; move it away")
    return content
