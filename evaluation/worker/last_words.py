"""What a worker left to say, in shared memory and by its end: as failures of its candidate.

Its memory is the candidate's as well, so that its words are quoted: they are nobody's verdict.

Not covered: what it printed, which output.py collects.
"""

import signal

from regraph_kg.evaluation.rules import Failure
from regraph_kg.evaluation.worker.shared_memory import Control, SharedMemory
from regraph_kg.models.evaluation import Outcome
from regraph_kg.models.text import quoted

_DAMAGED, _CHANGED = -3, -4
"""`status` of harness.cpp: an allocation's canary, a state of the device."""


def after_call(control: Control) -> Failure:
    """What the harness found after a call."""
    text = quoted(control.message.decode(errors="replace"))
    if control.status == _CHANGED:
        return Failure(Outcome.SUSPICIOUS, f"its worker says: {text}")
    where = "its worker says" if control.status == _DAMAGED else "CUDA error after the call"
    return Failure(Outcome.CRASHED, f"{where}: {text}")


def unloadable(shared: SharedMemory, cuda: bool) -> Failure | None:
    """Why the candidate could not be loaded, and what it must export; None where it was."""
    if not shared.control.status:
        return None
    text = quoted(shared.control.message.decode(errors="replace").rpartition(": ")[2])
    wanted = shared.problem.signature(cuda)
    return Failure(Outcome.COMPILE_FAILED, f"cannot load it: {text}; export {wanted}")


def ended(code: int, said: str, shared: SharedMemory) -> Failure:
    """A process that ended by itself before it was done; `code` as subprocess has it."""
    if code >= 0:
        text = f"ended the process with exit code {code} before the call returned"
    else:
        text = f"killed by {_signal_name(-code)}{_fault(shared)}"
    return Failure(Outcome.CRASHED, f"{text}; {said}" if said else text)


def _fault(shared: SharedMemory) -> str:
    """Which array an invalid access was next to."""
    at = shared.control.fault
    found = shared.owner(at) if at else None
    if not found:
        return ""
    place, distance = found
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
