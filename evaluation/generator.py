"""Runs a problem's inputs.py once, as a process of its own: numpy and the standard library only.

stdin: one JSON object {code, sizes, variant, seed}. stdout: a line of JSON with the names, then one
.npy after the other. What inputs.py prints goes to stderr; its exceptions end this process.

Not covered: confinement. The process can read and write what its user can, so inputs.py is run for
problems that the user trusts; a process of its own only keeps it from the judge's memory.
"""

import io
import json
import os
import sys
import types

import numpy as np


def main() -> None:
    """Read the order, draw, write the arrays."""
    order = json.load(sys.stdin)
    with os.fdopen(os.dup(1), "wb") as reply:
        os.dup2(2, 1)
        module = types.ModuleType("inputs")
        exec(compile(order["code"], "inputs.py", "exec"), module.__dict__)
        rng = np.random.default_rng(order["seed"])
        made = dict(module.generate(dict(order["sizes"]), order["variant"], rng))
        reply.write(json.dumps(list(made)).encode() + b"\n")
        for array in made.values():
            block = io.BytesIO()  # numpy asks a file for its position, which a pipe has not
            np.save(block, np.asarray(array), allow_pickle=False)
            reply.write(block.getbuffer())


if __name__ == "__main__":
    main()
