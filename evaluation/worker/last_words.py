"""Failures of a candidate, by its worker's message in shared memory and by its end.

The candidate can write that memory too, so the message is quoted and is no verdict.

Not covered: its printed output, which output.py collects.
"""

import signal

from regraph_kg.evaluation.rules import Failure
from regraph_kg.evaluation.worker.shared_memory import Control, SharedMemory
from regraph_kg.models.evaluation import Outcome
from regraph_kg.models.text import quoted

_DAMAGED, _CHANGED, _UNRESTORED = -3, -4, -5
"""`status` of harness.cpp: an allocation's canary, a state of the device, of the processor."""


def after_call(control: Control) -> Failure:
    """The failure that the harness found after a call."""
    text = quoted(control.message.decode(errors="replace"))
    if control.status == _CHANGED:
        return Failure(Outcome.SUSPICIOUS, f"its worker says: {text}")
    if control.status == _UNRESTORED:
        return Failure(Outcome.WRONG_ANSWER, f"its worker says: {text}")
    where = "its worker says" if control.status == _DAMAGED else "CUDA error after the call"
    return Failure(Outcome.CRASHED, f"{where}: {text}")


def unloadable(shared: SharedMemory, cuda: bool) -> Failure | None:
    """Why the candidate could not be loaded, and what it must export; None where it was."""
    if not shared.control.status:
        return None
    text = quoted(shared.control.message.decode(errors="replace").rpartition(": ")[2])
    signature = shared.problem.signature(cuda)
    return Failure(Outcome.COMPILE_FAILED, f"cannot load it: {text}; export {signature}")


def ended(code: int, output: str, shared: SharedMemory) -> Failure:
    """A process that ended by itself before it was done; `code` as subprocess has it."""
    if code >= 0:
        text = f"ended the process with exit code {code} before the call returned"
    else:
        text = f"killed by {_signal_name(-code)}{_fault(shared)}"
    return Failure(Outcome.CRASHED, f"{text}; {output}" if output else text)


def _fault(shared: SharedMemory) -> str:
    """The array next to an invalid access, in words."""
    at = shared.control.fault
    owner = shared.owner(at) if at else None
    if not owner:
        return ""
    place, distance = owner
    if distance < 0:
        return f": access {-distance} bytes before the start of array {place.name}"
    past = distance - place.nbytes
    where = f"{past} bytes past" if past else "right past"
    return f": access {where} the end of array {place.name}"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
