"""The points of a vocabulary for a curator to look at, each with the command that mends it.

People distinguished the techniques of the vocabulary file (those without a date): two of them are
never suspects. A point that a curator has kept (`Curation`) is not shown again.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from regraph_kg.models.curation import Concern, Curation, LabelDecision, TechniqueUsage
from regraph_kg.models.target import Target
from regraph_kg.models.technique import spelling

ALIKE = 0.58
"""Nearness of names from which on two techniques may be one."""
NEAR = 0.35
"""Nearness from which on a technique is worth naming."""
LOW_MARGIN = 0.2
"""A label that was no surer than this of its technique is looked at again."""
TEXT = "..."
"""Placeholder for a curator's text."""

Near = Callable[[str, Target], Iterable[tuple[str, float]]]
"""Techniques that a name may mean, and how near each is (0 to 1)."""

TechniquePair = frozenset[str]


@dataclass(frozen=True, slots=True)
class Confirmed:
    """Pairs and labels that curators left as they are."""

    pairs: frozenset[TechniquePair]
    labels: frozenset[tuple[str, str]]
    """(technique, spelling of a label)"""

    @classmethod
    def read(cls, log: Iterable[Curation], current: Callable[[str], str]) -> "Confirmed":
        """Read the valid entries of the log."""
        kept = [entry for entry in log if entry.kind == "keep" and entry.undone_by is None]
        ids = {entry.number: [current(key) for key in entry.techniques] for entry in kept}
        return cls(
            frozenset(
                frozenset(pair) for entry in kept for pair in combinations(ids[entry.number], 2)
            ),
            frozenset(
                (key, spelling(label))
                for entry in kept
                for key in ids[entry.number]
                for label in entry.labels
            ),
        )


@dataclass(frozen=True, slots=True)
class Scene:
    """Input of an audit."""

    usage: Mapping[str, TechniqueUsage]
    confirmed: Confirmed
    near: Near
    scores: dict[TechniquePair, float] = field(default_factory=dict)
    """Nearness of techniques of one target."""

    def concern(
        self, kind: str, ids: Sequence[str], *commands: Sequence[str], **more: object
    ) -> Concern:
        """A finding about these techniques."""
        used = [self.usage[key] for key in ids]
        return Concern.model_validate(
            {
                "kind": kind,
                "techniques": tuple(ids),
                "examples": tuple(usage.examples for usage in used),
                "labels": tuple(usage.labels for usage in used),
                "commands": tuple(("techniques", "mend", *words) for words in commands),
            }
            | more
        )

    def nearest(self, technique: str) -> tuple[float, str]:
        """The score and id of what is nearest to a technique."""
        near = [
            (score, other)
            for pair, score in self.scores.items()
            if technique in pair
            for other in pair - {technique}
        ]
        return max(near, default=(0.0, ""))

    def better(self, pair: Iterable[str]) -> tuple[str, str]:
        """The pair, better technique first: a described one, then the one with more examples."""

        def worth(key: str) -> tuple[bool, bool, int, str]:
            technique = self.usage[key].technique
            described = bool(technique.definition)
            return (technique.review, not described, -self.usage[key].examples, key)

        first, second = sorted(pair, key=worth)
        return first, second


def audit(
    usage: Sequence[TechniqueUsage],
    verdicts: Sequence[LabelDecision],
    log: Sequence[Curation],
    near: Near,
) -> tuple[Concern, ...]:
    """Everything to look at, the most harmful first: what mixes meanings, then what splits them."""
    by_id = {used.technique.id: used for used in usage}
    heirs = {old: key for key, used in by_id.items() for old in used.technique.replaces}

    def current(key: str) -> str:
        return heirs.get(key, key)

    scene = Scene(by_id, Confirmed.read(log, current), near, _scores(by_id, near))
    suspects = list(_suspects(scene))
    shown = {key for suspect in suspects for key in suspect.techniques}
    return (
        *_shared_names(scene),
        *_low_margins(scene, verdicts, current),
        *suspects,
        *_unreviewed(scene, shown),
        *_orphans(scene),
        *_undescribed(scene),
    )


def _scores(usage: Mapping[str, TechniqueUsage], near: Near) -> dict[TechniquePair, float]:
    scores: defaultdict[TechniquePair, float] = defaultdict(float)
    for key, used in usage.items():
        for name in (used.technique.name, *used.technique.aliases):
            for other, score in near(name, used.technique.target):
                if other != key and other in usage:
                    pair = frozenset((key, other))
                    scores[pair] = max(scores[pair], round(min(score, 1.0), 3))
    return dict(scores)


def _shared_names(scene: Scene) -> Iterator[Concern]:
    owners: defaultdict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    for key, used in scene.usage.items():
        technique = used.technique
        for name in (*technique.aliases, technique.name):
            owners[technique.target, spelling(name)].setdefault(key, name)
    for (_, words), names in sorted(owners.items()):
        for pair in combinations(sorted(names), 2):
            if frozenset(pair) not in scene.confirmed.pairs:
                yield _shared_name(scene, pair, words, names)


def _shared_name(
    scene: Scene, pair: Sequence[str], words: str, names: Mapping[str, str]
) -> Concern:
    first, second = scene.better(pair)
    if spelling(scene.usage[second].technique.name) == words:
        first, second = second, first
    why = ("--why", f"{words[:80]} names two techniques")
    commands = [("merge", *scene.better(pair), *why), ("keep", first, second)]
    if spelling(scene.usage[second].technique.name) != words:
        commands.insert(0, ("split", second, "--aliases", names[second], "--to", first, *why))
    return scene.concern("shared-name", (first, second), *commands, about=names[second])


def _low_margins(
    scene: Scene, verdicts: Iterable[LabelDecision], current: Callable[[str], str]
) -> Iterator[Concern]:
    doubtful = []
    for verdict in verdicts:
        key, rival = current(verdict.technique), verdict.runner_up and current(verdict.runner_up)
        # A model's scores say nothing: of 186 of its verdicts that were this near, 186 were right.
        if (
            verdict.stage in ("new", "model")
            or key not in scene.usage
            or rival not in {*scene.usage} - {key}
        ):
            continue
        margin = round(verdict.score - (verdict.runner_up_score or 0.0), 3)
        words = spelling(verdict.label)
        aliases = {spelling(alias): alias for alias in scene.usage[key].technique.aliases}
        if margin < LOW_MARGIN and words in aliases and (key, words) not in scene.confirmed.labels:
            doubtful.append((margin, key, rival, aliases[words]))
    for margin, key, rival, alias in sorted(doubtful):
        why = ("--why", f"not a name of {key}")
        yield scene.concern(
            "low-margin",
            (key, rival),
            ("split", key, "--aliases", alias, "--to", rival, *why),
            ("split", key, "--aliases", alias, *why),
            ("keep", key, "--alias", alias),
            score=margin,
            about=alias,
        )


def _suspects(scene: Scene) -> Iterator[Concern]:
    for pair, score in sorted(scene.scores.items(), key=lambda item: (-item[1], sorted(item[0]))):
        ingested = any(scene.usage[key].technique.created for key in pair)
        if score >= ALIKE and ingested and pair not in scene.confirmed.pairs:
            first, second = scene.better(pair)
            yield scene.concern(
                "suspect",
                (first, second),
                ("merge", first, second, "--why", "one technique under two names"),
                ("keep", first, second),
                score=score,
            )


def _unreviewed(scene: Scene, shown: set[str]) -> Iterator[Concern]:
    """New techniques that are not in a suspect pair, each with what is nearest to it."""
    new = [key for key, used in scene.usage.items() if used.technique.review and key not in shown]
    for key in sorted(new, key=lambda key: (-scene.usage[key].examples, key)):
        name = scene.usage[key].technique.name
        commands: list[tuple[str, ...]] = [
            ("keep", key),
            ("describe", key, "--definition", TEXT),
            ("rename", key, name, "--why", TEXT),
        ]
        score, nearest = scene.nearest(key)
        if score < NEAR:
            yield scene.concern("review", (key,), *commands)
        else:
            commands.append(("merge", nearest, key, "--why", f"another name of {nearest}"))
            yield scene.concern("review", (key, nearest), *commands, score=score)


def _orphans(scene: Scene) -> Iterator[Concern]:
    for key, used in sorted(scene.usage.items()):
        if used.technique.created and not used.examples + used.tried + used.leaving:
            yield scene.concern("orphan", (key,), ("drop", key, "--why", "nothing leads to it"))


def _undescribed(scene: Scene) -> Iterator[Concern]:
    for key, used in sorted(scene.usage.items()):
        if used.examples and not used.technique.definition and not used.technique.review:
            yield scene.concern("undescribed", (key,), ("describe", key, "--definition", TEXT))
