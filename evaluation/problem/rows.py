"""Outputs of which the first rows count only, and outputs whose rows may come in any order.

`shape` is the room of such an output; another output, or the returned value, says how many rows
(along the first axis) count. Rows behind them may hold anything and are set to zero before they are
looked at; rows of any order are sorted, those of outputs that belong together as one. So two runs
that say the same in another order are the same bits from here on.

Not covered: which of two rows comes first whose numbers differ by rounding only; `problem check`
says so.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from regraph_kg.errors import BadInput
from regraph_kg.evaluation.problem.problem import RESULT, Argument, Array, Problem
from regraph_kg.evaluation.problem.types import is_rounded, parts


@dataclass(frozen=True, slots=True)
class Rows:
    """Outputs whose rows belong together; the first gives the order."""

    args: tuple[Argument, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(arg.name for arg in self.args)

    @property
    def is_unordered(self) -> bool:
        return self.args[0].order is not None

    def number(self, outputs: Mapping[str, Array]) -> int:
        """Count of rows by the outputs themselves: never more than there is room for."""
        room: int = outputs[self.args[0].name].shape[0]
        counter = self.args[0].count
        if counter is None:
            return room
        return min(max(int(outputs[counter].reshape(-1)[0]), 0), room)


def rows_of(problem: Problem) -> list[Rows]:
    """Outputs with counted or unordered rows, by group."""
    special = [arg for arg in problem.results if arg.count or arg.order]
    leaders = [arg for arg in special if arg.order in (None, "any")]
    return [
        Rows((leader, *(arg for arg in special if arg.order == leader.name))) for leader in leaders
    ]


def settled(problem: Problem, outputs: Mapping[str, Array]) -> dict[str, Array]:
    """Outputs in comparable form: zeros behind the rows that count, rows of any order sorted."""
    # Fields of structs are arrays of their own.
    outputs = _leaves(problem, outputs)
    arrays = dict(outputs)
    for rows in rows_of(problem):
        number = rows.number(outputs)
        heads = [outputs[name][:number] for name in rows.names]
        order = np.lexsort(columns(heads)[::-1]) if rows.is_unordered and number else slice(None)
        for name, head in zip(rows.names, heads, strict=True):
            arrays[name] = np.zeros_like(outputs[name])
            arrays[name][:number] = head[order]
    return arrays


def _leaves(problem: Problem, outputs: Mapping[str, Array]) -> dict[str, Array]:
    leaves = {}
    for arg in problem.outputs:
        array = outputs[arg.name]
        fields = {leaf.name: array[field].copy() for field, leaf in arg.leaves.items()}
        leaves.update(fields or {arg.name: array})
    return leaves


def columns(heads: Sequence[Array]) -> list[Array]:
    """Numbers of each row, one array for each place in it: exact ones first, as they show more."""
    each = list[Array]()
    for head in heads:
        flat = parts(np.ascontiguousarray(head)).reshape(len(head), -1).T if head.size else [head]
        each += [*flat]
    return sorted(each, key=is_rounded)


def require_room(problem: Problem, outputs: Mapping[str, Array], name: str) -> None:
    """Raise `BadInput` where code that is trusted counts more rows than there is room for."""
    outputs = _leaves(problem, outputs)
    for rows in rows_of(problem):
        leader = rows.args[0]
        count = int(outputs[leader.count].reshape(-1)[0]) if leader.count else 0
        room = outputs[leader.name].shape[0]
        if not 0 <= count <= room:
            raise BadInput(
                f"problem {problem.name}: {name} says {leader.count} = {count}, but"
                f" {_whole(leader.name)} has room for {room} rows: make its shape larger, or mend"
                " the code"
            )


def remarks(problem: Problem) -> str:
    """Rules of such outputs for a candidate's author: a line of C++ comment for each."""
    lines = []
    for rows in rows_of(problem):
        counter, names = rows.args[0].count, " and ".join(dict.fromkeys(map(_whole, rows.names)))
        parts = []
        if counter:
            source = "the function returns" if counter == RESULT else f"{counter}[0] says"
            parts.append(f"as many rows count, from the first on, as {source}")
        if rows.is_unordered:
            parts.append("rows may come in any order")
        if " and " in names:
            parts.append("row i of one belongs to row i of the other")
        lines.append(f"\n// {names}: {'; '.join(parts)}")
    return "".join(lines)


def _whole(name: str) -> str:
    """The output to which a field belongs."""
    return name.partition(".")[0]
