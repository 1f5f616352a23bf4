"""Outputs of which the first rows count only.

`shape` is the room of such an output; another output, or the returned value, says how many rows
(along the first axis) count. Rows behind them may hold anything and are set to zero before they are
looked at.
"""

from collections.abc import Mapping

import numpy as np

from regraph_kg.errors import BadInput
from regraph_kg.evaluation.problem.declaration import RESULT, Argument
from regraph_kg.evaluation.problem.problem import Problem
from regraph_kg.evaluation.problem.types import Array


def counted(problem: Problem) -> list[Argument]:
    """Outputs whose rows are counted."""
    return [arg for arg in problem.results if arg.count]


def rows(arg: Argument, outputs: Mapping[str, Array]) -> int:
    """Count of a counted output's rows by the outputs themselves: never more than its room."""
    room: int = outputs[arg.name].shape[0]
    return min(max(int(outputs[arg.count or ""].reshape(-1)[0]), 0), room)


def settled(problem: Problem, outputs: Mapping[str, Array]) -> dict[str, Array]:
    """Outputs in comparable form: zeros behind the rows that count."""
    # Fields of structs are arrays of their own.
    arrays = _leaves(problem, outputs)
    for arg in counted(problem):
        whole, number = arrays[arg.name], rows(arg, arrays)
        arrays[arg.name] = np.zeros_like(whole)
        arrays[arg.name][:number] = whole[:number]
    return arrays


def _leaves(problem: Problem, outputs: Mapping[str, Array]) -> dict[str, Array]:
    leaves = {}
    for arg in problem.outputs:
        array = outputs[arg.name]
        fields = {leaf.name: array[field].copy() for field, leaf in arg.leaves.items()}
        leaves.update(fields or {arg.name: array})
    return leaves


def require_room(problem: Problem, outputs: Mapping[str, Array], name: str) -> None:
    """Raise `BadInput` where code that is trusted counts more rows than there is room for."""
    outputs = _leaves(problem, outputs)
    for arg in counted(problem):
        count, room = int(outputs[arg.count or ""].reshape(-1)[0]), outputs[arg.name].shape[0]
        if not 0 <= count <= room:
            raise BadInput(
                f"problem {problem.name}: {name} says {arg.count} = {count}, but"
                f" {arg.name.partition('.')[0]} has room for {room} rows: make its shape larger,"
                " or mend the code"
            )


def remarks(problem: Problem) -> str:
    """Rules of such outputs for a candidate's author: a line of C++ comment for each."""
    told = dict[str, str]()
    for arg in counted(problem):
        source = "the function returns" if arg.count == RESULT else f"{arg.count}[0] says"
        told[arg.name.partition(".")[0]] = source
    return "".join(
        f"\n// {name}: as many rows count, from the first on, as {source}"
        for name, source in told.items()
    )
