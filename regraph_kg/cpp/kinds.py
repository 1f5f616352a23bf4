"""The kind of a code: what its loops do with data, in one word. What helped one helps its like."""

from regraph_kg.cpp.facts import facts_of


def kind_of(code: str, entry: str = "") -> str:
    """The first kind that fits what `entry` reaches; "" for code without a loop."""
    facts = facts_of(code, entry)
    loops = facts.loops
    signs = {
        "scatter": facts.updates or facts.scatters,  # data choose the places that it writes
        "scan": any(loop.scan for loop in loops),
        "steps": any(loop.time for loop in loops),
        "gather": facts.gathers,  # data choose the places that it reads
        "reuse": any(loop.reuse for loop in loops),
        "math": any(loop.math for loop in loops),
        "sum": any(loop.reduces and not loop.depth for loop in loops),
        "map": loops,
    }
    return next((kind for kind, holds in signs.items() if holds and loops), "")
