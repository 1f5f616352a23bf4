"""The directives of OpenMP that share out a loop, with the clauses that its facts ask for."""

from regraph_kg.search.code.facts import Facts
from regraph_kg.search.code.loop_facts import LoopFacts
from regraph_kg.search.fit.predicate import within


def clause(loop: LoopFacts | None, *inner: LoopFacts) -> str:
    """The reduction, private and lastprivate clauses of a loop, with blanks before them."""
    if loop is None:
        return ""
    by_sign: dict[str, list[str]] = {}
    for section, sign in zip(loop.sections, loop.combines, strict=True):
        if section:
            by_sign.setdefault(sign, []).append(section)
    excluded = {loop.variable, *loop.lasting, *(nested.variable for nested in inner)}
    private = [name for name in loop.private if name not in excluded]
    clauses = [f"reduction({sign}:{', '.join(names)})" for sign, names in by_sign.items()]
    clauses += [f"private({', '.join(private)})"] if private else []
    if loop.lasting:  # the first value lasts if there is no iteration
        clauses += [
            f"{word}({', '.join(loop.lasting)})" for word in ("firstprivate", "lastprivate")
        ]
    return "".join(f" {clause}" for clause in clauses)


def collapse(facts: Facts, loop: LoopFacts | None) -> str:
    return f" collapse(2){clause(loop, *within(facts, loop)[:1])}" if loop is not None else ""


def simd(loop: LoopFacts | None) -> str:
    """The directive that shares a loop among vector lanes, which threads may share already."""
    if loop is None:
        return ""
    for directive in loop.directives:
        if "for" in directive.split():
            return f"#pragma {directive.replace(' for', ' for simd', 1)}"
    return f"#pragma omp simd{clause(loop.model_copy(update={'lasting': ()}))}"
