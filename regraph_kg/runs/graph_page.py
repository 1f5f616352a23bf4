"""A graph as a page, for those who have no store: what each technique brings, and what follows it.

It is read in a few hundred questions whose answers are bounded, however many examples there are.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing

from regraph_kg import report, wiring
from regraph_kg.graph import GraphStore
from regraph_kg.models.graph import EFFECT_SCALE, UNMEASURED, Example, Gain, Successor
from regraph_kg.models.target import TARGETS
from regraph_kg.models.technique import Technique, start_id
from regraph_kg.pages.views import (
    CodePair,
    Follower,
    GainCell,
    GainRow,
    GraphView,
    PairRow,
    TechniqueView,
)
from regraph_kg.settings import Settings

MOST_TECHNIQUES = 300
MOST_DEVICES = 8
MOST_ROWS = 20_000
"""Of techniques on devices, and of pairs on devices, that are looked at."""
STRONGEST = 50
FOLLOWERS = 10
MOST_CHARACTERS = 8_000
"""Of a code in an example."""


def view_graph(settings: Settings) -> GraphView:
    """What the page of the settings' graph shows."""
    with closing(wiring.open_store(settings)) as store:
        return _view(store)


def _view(store: GraphStore) -> GraphView:
    known = {start.id: start for start in (*_starts(), *store.techniques())}
    gains, pairs = store.gains(limit=MOST_ROWS), store.strongest(limit=MOST_ROWS)
    tried = Counter[str]()
    for gain in gains:
        tried[gain.target] += gain.tried
    order = sorted(known, key=lambda one: (not one.endswith("/start"), -tried[one], one))
    shown = [known[one] for one in order[:MOST_TECHNIQUES]]
    devices = _devices(gains)
    stats = store.stats()
    totals = {
        "techniques": str(stats.techniques),
        "pairs of techniques": str(stats.pairs),
        "examples": str(stats.transitions),
        "trajectories": str(stats.trajectories),
    }
    return GraphView(
        totals=totals,
        devices=devices,
        rows=tuple(_rows(shown, gains, devices)),
        strongest=tuple(_pair(pair) for pair in pairs[:STRONGEST]),
        techniques=tuple(_techniques(store, shown, pairs)),
        names={one.id: one.name for one in known.values()},
        notes=tuple(_notes(len(known), gains, devices)),
    )


def _starts() -> Iterator[Technique]:
    return (Technique(id=start_id(one), name="Serial code", target=one) for one in TARGETS)


def _devices(gains: Sequence[Gain]) -> tuple[str, ...]:
    """Those on which most was tried, most first."""
    tried = Counter[str]()
    for gain in gains:
        if gain.device != UNMEASURED:
            tried[gain.device] += gain.tried
    return tuple(device for device, _ in tried.most_common(MOST_DEVICES))


def _notes(known: int, gains: Sequence[Gain], devices: Sequence[str]) -> Iterator[str]:
    """What the page leaves out."""
    all_devices = {gain.device for gain in gains} - {UNMEASURED}
    if known > MOST_TECHNIQUES:
        yield f"of {known} techniques the {MOST_TECHNIQUES} that were tried most are shown"
    if len(all_devices) > len(devices):
        yield f"of {len(all_devices)} devices the {len(devices)} with most tries are shown"
    if len(gains) == MOST_ROWS:
        yield "gains of the techniques that were tried least are left out"


def _rows(
    shown: Sequence[Technique], gains: Sequence[Gain], devices: Sequence[str]
) -> Iterator[GainRow]:
    found = {(gain.target, gain.device): _cell(gain) for gain in gains}
    for one in shown:
        cells = tuple(found.get((one.id, device)) for device in devices)
        if any(cells):
            yield GainRow(one.id, one.name, one.target, cells)


def _cell(gain: Gain) -> GainCell:
    return GainCell(gain.mean, gain.best_effect, gain.verified, gain.tried)


def _pair(gain: Gain) -> PairRow:
    return PairRow(gain.source, gain.target, gain.device, _cell(gain))


def _techniques(
    store: GraphStore, shown: Sequence[Technique], pairs: Sequence[Gain]
) -> Iterator[TechniqueView]:
    strongest: dict[str, Gain] = {}
    for pair in pairs:
        strongest.setdefault(pair.target, pair)
    for one in shown:
        found = store.neighbourhood(one.id, device="", limit=FOLLOWERS)
        best = strongest.get(one.id)
        yield TechniqueView(
            one.id,
            one.name,
            one.target,
            _told(one),
            tuple(map(_follower, found.successors)),
            _example(store, best) if best else None,
        )


def _told(one: Technique) -> Mapping[str, str]:
    told = {
        "what it is": one.definition,
        "when it applies": one.applies,
        "when it hurts": one.hurts,
        "also called": ", ".join(one.aliases),
        "state": "made by an ingest; nobody has looked at it yet" if one.review else "",
    }
    return {name: said for name, said in told.items() if said}


def _follower(one: Successor) -> Follower:
    mean = None
    if one.verified:
        mean = float(2 ** (one.sum_log2_effect / EFFECT_SCALE / one.verified))
    cell = GainCell(mean, one.best_effect, one.verified, one.tried)
    return Follower(one.technique.id, one.technique.name, one.examples, one.declined, cell)


def _example(store: GraphStore, best: Gain) -> CodePair | None:
    """The best example of the pair in which the technique gained most."""
    found = store.examples(best.source, best.target, device=best.device, limit=1)
    return _code_pair(found[0], best.device) if found else None


def _code_pair(one: Example, device: str) -> CodePair:
    seen = one.seen_from(device)
    gained = f", {report.times(seen[0])} on {seen[1]}" if seen else ""
    after = one.source.partition("/")[2].replace("-", " ").replace("start", "the serial code")
    by = (one.model, one.licence)
    return CodePair(
        f"{one.problem}, after {after}{gained} ({', '.join(filter(None, by))})",
        one.before[:MOST_CHARACTERS],
        one.after[:MOST_CHARACTERS],
        one.diff[:MOST_CHARACTERS],
        one.reasoning[:MOST_CHARACTERS],
    )
