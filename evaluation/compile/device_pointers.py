"""CUDA code for pointers to the host, made fit for pointers to the device.

Metric "device" passes arrays that lie on the device. Code that copies its arrays there and back
names the direction of each copy, and may be refused. With these lines before it, the runtime finds
the direction by the pointers (a copy within the device), and what the code allocates in a call
comes from a pool: a timed call covers its kernels and copies within the device. Code
for device pointers, which neither copies nor allocates, is the same with them and without.

Not covered: code that reads its arguments on the host; it crashes.
"""

from pathlib import Path

_BEFORE = Path(__file__).with_suffix(".hpp").read_text("utf-8")


def for_device_pointers(code: str) -> str:
    """The code in the form that metric "device" can judge."""
    return _BEFORE + code
