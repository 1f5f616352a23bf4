"""The algorithms of the standard library that device code may use; algorithms.cuh defines them."""

import re
from pathlib import Path

# Behind each line `//: NAME` stands what NAME needs.
_, *_PARTS = re.split(
    r"^//: (\w+)\n", Path(__file__).with_suffix(".cuh").read_text("utf-8"), flags=re.M
)
ALGORITHMS = {
    name: f"{text.strip()}\n" for name, text in zip(_PARTS[::2], _PARTS[1::2], strict=True)
}
