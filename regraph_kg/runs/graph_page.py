"""A graph as a page for readers without a store: gains and successors of each technique.

It takes one query of all statistics, and a few hundred bounded ones, whatever the number of
examples.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import fields

from regraph_kg import report
from regraph_kg.graph import GraphStore
from regraph_kg.models.graph import UNMEASURED, Example, Gain, TransitionStats
from regraph_kg.models.technique import Technique
from regraph_kg.pages.views import CodePair, GainRow, GraphView, TechniqueView
from regraph_kg.runs.technique_names import by_id
from regraph_kg.settings import Settings
from regraph_kg.wiring.stores import open_store

MOST_TECHNIQUES = 300
MOST_DEVICES = 8
SUMMED = ("examples", "tried", "verified", "sum_log2_effect")
"""Fields that add up, in the order of a `Gain`."""
STRONGEST = 50
FOLLOWERS = 10
MOST_CHARACTERS = 8_000
"""Characters of a code in an example."""


def view_graph(settings: Settings) -> GraphView:
    with closing(open_store(settings)) as store:
        return _view(store)


def _view(store: GraphStore) -> GraphView:
    techniques = by_id(store.techniques())
    rows = store.transitions()
    gains, pairs = technique_gains(rows), strongest_pairs(rows)
    tries = Counter[str]()
    for gain in gains:
        tries[gain.target] += gain.tried
    order = sorted(techniques, key=lambda name: (not name.endswith("/start"), -tries[name], name))
    chosen = [techniques[name] for name in order[:MOST_TECHNIQUES]]
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
        rows=tuple(_rows(chosen, gains, devices)),
        strongest=tuple(pairs[:STRONGEST]),
        techniques=tuple(_techniques(store, chosen, pairs)),
        names={technique.id: technique.name for technique in techniques.values()},
        notes=tuple(_notes(len(techniques), gains, devices)),
    )


def technique_gains(rows: Iterable[TransitionStats]) -> list[Gain]:
    """Each technique's gain on each device after any other technique; most tried first."""
    groups: defaultdict[tuple[str, str], list[TransitionStats]] = defaultdict(list)
    for row in rows:
        if row.tried:
            groups[row.target, row.device].append(row)
    gains = []
    for place, group in groups.items():
        examples, tried, verified, logs = (sum(getattr(one, n) for one in group) for n in SUMMED)
        gains.append(Gain(*place, examples, tried, verified, logs))
    return sorted(gains, key=lambda gain: (-gain.tried, gain.target, gain.device))


def strongest_pairs(rows: Iterable[TransitionStats]) -> list[Gain]:
    """Each pair's gain on each device where it was verified; the most promising first.

    The order draws a mean of few measurements towards 1.
    """

    def rank(gain: Gain) -> tuple[float, str, str, str]:
        cautious = gain.sum_log2_effect / (gain.verified + 1)
        return -cautious, gain.source, gain.target, gain.device

    return sorted((_gain(row) for row in rows if row.verified), key=rank)


def _gain(row: TransitionStats) -> Gain:
    return Gain(**{field.name: getattr(row, field.name) for field in fields(Gain)})


def _devices(gains: Sequence[Gain]) -> tuple[str, ...]:
    """The devices with most tries, most first."""
    tries = Counter[str]()
    for gain in gains:
        if gain.device != UNMEASURED:
            tries[gain.device] += gain.tried
    return tuple(device for device, _ in tries.most_common(MOST_DEVICES))


def _notes(count: int, gains: Sequence[Gain], devices: Sequence[str]) -> Iterator[str]:
    """Notes on parts that the page leaves out."""
    all_devices = {gain.device for gain in gains} - {UNMEASURED}
    if count > MOST_TECHNIQUES:
        yield f"of {count} techniques the {MOST_TECHNIQUES} that were tried most are shown"
    if len(all_devices) > len(devices):
        yield f"of {len(all_devices)} devices the {len(devices)} with most tries are shown"


def _rows(
    techniques: Sequence[Technique], gains: Sequence[Gain], devices: Sequence[str]
) -> Iterator[GainRow]:
    by_device = {(gain.target, gain.device): gain for gain in gains}
    for technique in techniques:
        cells = tuple(by_device.get((technique.id, device)) for device in devices)
        if any(cells):
            yield GainRow(technique, cells)


def _techniques(
    store: GraphStore, techniques: Sequence[Technique], pairs: Sequence[Gain]
) -> Iterator[TechniqueView]:
    strongest: dict[str, Gain] = {}
    for pair in pairs:
        strongest.setdefault(pair.target, pair)
    for technique in techniques:
        neighbourhood = store.neighbourhood(technique.id, device="", limit=FOLLOWERS)
        best = strongest.get(technique.id)
        yield TechniqueView(
            technique,
            _texts(technique),
            neighbourhood.successors,
            _example(store, best) if best else None,
        )


def _texts(technique: Technique) -> Mapping[str, str]:
    texts = {
        "what it is": technique.definition,
        "when it applies": technique.applies,
        "when it hurts": technique.hurts,
        "also called": ", ".join(technique.aliases),
        "state": "made by an ingest; nobody has looked at it yet" if technique.review else "",
    }
    return {name: text for name, text in texts.items() if text}


def _example(store: GraphStore, best: Gain) -> CodePair | None:
    """The best example of the pair with the largest gain."""
    examples = store.examples(best.source, best.target, device=best.device, limit=1)
    return _code_pair(examples[0], best.device) if examples else None


def _code_pair(example: Example, device: str) -> CodePair:
    measured = example.seen_from(device)
    gained = f", {report.times(measured[0])} on {measured[1]}" if measured else ""
    after = example.source.partition("/")[2].replace("-", " ").replace("start", "the serial code")
    credit = (example.model, example.licence)
    return CodePair(
        f"{example.problem}, after {after}{gained} ({', '.join(filter(None, credit))})",
        example.before[:MOST_CHARACTERS],
        example.after[:MOST_CHARACTERS],
        example.diff[:MOST_CHARACTERS],
        example.reasoning[:MOST_CHARACTERS],
    )
