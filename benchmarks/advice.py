"""The first step that `regraph next` names, held against those that an expert would take.

    regraph ingest --starter
    python -m benchmarks.advice [--only NAME,NAME] [--target openmp] [--json FILE]

Codes: benchmarks/strangers/NAME/code.cpp, whose right first steps stand in about.toml, and
benchmarks/advice/NAME.cpp and advice_later/NAME.cpp, whose first lines name theirs. They were
written before anybody looked at the answers. Right at 1: the first line is one of them; in 3: one
of the first three is.
"""

import argparse
import json
import re
import time
import tomllib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import cast, get_args

from regraph_kg import open_graph
from regraph_kg.api.graph import Graph
from regraph_kg.models.next_steps import SuggestedStep
from regraph_kg.models.target import TARGETS, Target

HERE = Path(__file__).parent
SHOWN = 3


@dataclass(frozen=True)
class Answer:
    """What the graph said of one code, for one target."""

    name: str
    target: str
    expected: tuple[str, ...]
    said: tuple[str, ...]
    seconds: float
    first_line: str  # what the first suggestion claims

    @property
    def rank(self) -> int | None:
        """Of the first right one, from 1; None: none among those that were asked for."""
        return next((i for i, name in enumerate(self.said, 1) if name in self.expected), None)


def cases(only: str = "") -> list[tuple[str, Path, dict[str, list[str]]]]:
    """Name, file, right first steps of each target."""
    names = {name for name in only.split(",") if name}
    found: list[tuple[str, Path, dict[str, list[str]]]] = []
    for path in sorted(HERE.glob("strangers/*/about.toml")):
        steps = tomllib.loads(path.read_text(encoding="utf-8"))["first_steps"]
        found.append((path.parent.name, path.with_name("code.cpp"), steps))
    for path in sorted(HERE.glob("advice*/*.cpp")):
        marked = re.findall(r"^// first (\w+): (.*)$", path.read_text(encoding="utf-8"), re.M)
        steps = {target: [f"{target}/{word}" for word in row.split()] for target, row in marked}
        found.append((path.stem, path, steps))
    return [one for one in found if not names or one[0] in names]


def asked(graph: Graph, path: Path, target: Target, expected: Sequence[str], name: str) -> Answer:
    code = re.sub(r"^// first .*\n", "", path.read_text(encoding="utf-8"), flags=re.M)
    began = time.monotonic()
    steps = graph.next(code, target=target, limit=10).steps
    seconds = time.monotonic() - began
    said = tuple(step.technique for step in steps)
    return Answer(name, target, tuple(expected), said, seconds, claim(steps[0]) if steps else "")


def claim(step: SuggestedStep) -> str:
    fit = "fits" if step.fits else "may fit"
    return f"{step.technique} ({step.effect or 0:.2f}x, {step.verified} of {step.tried}; {fit})"


def report(answers: Sequence[Answer]) -> str:
    lines = []
    for target in TARGETS:
        mine = [answer for answer in answers if answer.target == target]
        if not mine:
            continue
        first = sum(answer.rank == 1 for answer in mine)
        near = sum(answer.rank is not None and answer.rank <= SHOWN for answer in mine)
        seconds = [answer.seconds for answer in mine]
        lines.append(
            f"{target}: right at 1 {first} of {len(mine)}, in {SHOWN} {near}; seconds an answer"
            f" {median(seconds):.2f} (median), {max(seconds):.2f} (most)"
        )
        for answer in mine:
            if answer.rank != 1:
                right = f"right at {answer.rank}" if answer.rank else "no right one in 10"
                wanted = ", ".join(answer.expected)
                lines.append(f"  {answer.name}: {answer.first_line}; {right}; wanted {wanted}")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--only", default="", help="names, with commas between them")
    parser.add_argument("--target", default="", help="openmp or cuda; both if not given")
    parser.add_argument("--json", type=Path, help="where to write what was said")
    given = parser.parse_args()
    targets = [cast("Target", given.target)] if given.target else list(get_args(Target))
    with open_graph() as graph:
        answers = [
            asked(graph, path, target, steps.get(target, ()), name)
            for name, path, steps in cases(given.only)
            for target in targets
        ]
    print(report(answers))
    if given.json:
        rows = [{**asdict(answer), "rank": answer.rank} for answer in answers]
        given.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
