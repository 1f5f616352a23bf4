"""All predicates over facts, by name, for the preconditions of techniques.

Here are those that a code has if it has certain facts (of_facts.json); `loop_predicates.py`,
`openmp_predicates.py` and `cuda_predicates.py` hold those that weigh several facts.
"""

import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from regraph_kg.search.fit.cuda_predicates import CUDA_PREDICATES
from regraph_kg.search.fit.loop_predicates import LOOP_PREDICATES
from regraph_kg.search.fit.openmp_predicates import OPENMP_PREDICATES
from regraph_kg.search.fit.predicate import Predicate, has_any

# name -> the code's property in words, and paths of facts, one of which is enough
_OF_FACTS = json.loads((Path(__file__).parent / "of_facts.json").read_text(encoding="utf-8"))

PREDICATES: Mapping[str, Predicate] = {
    **{name: Predicate(partial(has_any, paths), what) for name, (what, paths) in _OF_FACTS.items()},
    **LOOP_PREDICATES,
    **OPENMP_PREDICATES,
    **CUDA_PREDICATES,
}
