"""All predicates over facts, by name, for the preconditions of techniques.

`loop_predicates.py`, `openmp_predicates.py` and `cuda_predicates.py` hold them.
"""

from collections.abc import Mapping

from regraph_kg.search.fit.cuda_predicates import CUDA_PREDICATES
from regraph_kg.search.fit.loop_predicates import LOOP_PREDICATES
from regraph_kg.search.fit.openmp_predicates import OPENMP_PREDICATES
from regraph_kg.search.fit.predicate import Predicate

PREDICATES: Mapping[str, Predicate] = {**LOOP_PREDICATES, **OPENMP_PREDICATES, **CUDA_PREDICATES}
