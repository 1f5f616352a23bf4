"""An audit's findings put together: what concerns the same techniques, and what may be accepted.

Techniques that share a name or are suspected to be one are joined, the nearest first, up to
`LARGEST` together; findings about single techniques stand in groups of `PAGE`. Proposals cover the
plain cases: merge a suspect into the better known technique, keep a new one that resembles none,
drop one that nothing leads to. Shared names and descriptions need a person.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from regraph_kg.models.curation import Cluster, Concern, ConcernKind, Proposal

LARGEST = 6
"""Techniques of a cluster."""
PAGE = 10
"""Clusters of a page; single techniques of a group."""
JOINING: tuple[ConcernKind, ...] = ("shared-name", "suspect")


def clusters(findings: Sequence[Concern]) -> tuple[Cluster, ...]:
    """Every finding in one cluster; those that would change most come first."""
    place = _places(findings)
    groups: defaultdict[str, list[Concern]] = defaultdict(list)
    for finding in findings:
        groups[place[finding.techniques[0]]].append(finding)
    joined, alone = list[list[Concern]](), list[Concern]()
    for group in groups.values():
        if any(finding.kind in JOINING for finding in group):
            joined.append(group)
        else:
            alone += group
    every = [_cluster(group, place) for group in (*joined, *_of_a_kind(alone))]
    return tuple(
        sorted(every, key=lambda item: (-item.moved, -sum(item.examples), item.techniques))
    )


def pages(clusters: Sequence[Cluster]) -> list[tuple[Cluster, ...]]:
    """Pages of clusters."""
    return [tuple(clusters[first : first + PAGE]) for first in range(0, len(clusters), PAGE)]


def _places(findings: Sequence[Concern]) -> dict[str, str]:
    """Technique -> one that stands for its group: the strongest findings join first."""
    members = {key: [key] for finding in findings for key in finding.techniques}
    joining = [finding for finding in findings if finding.kind in JOINING]
    for finding in sorted(joining, key=lambda item: (-(item.score or 1.0), item.techniques)):
        first, second = (members[key] for key in finding.techniques)
        if first is not second and len(first) + len(second) <= LARGEST:
            first += second
            members.update(dict.fromkeys(second, first))
    return {key: min(group) for key, group in members.items()}


def _of_a_kind(alone: Sequence[Concern]) -> Iterator[list[Concern]]:
    """Findings of single techniques, those of one kind and target together."""
    kinds: defaultdict[tuple[str, str], list[Concern]] = defaultdict(list)
    for finding in alone:
        kinds[finding.kind, finding.techniques[0].partition("/")[0]].append(finding)
    for _, findings in sorted(kinds.items()):
        for first in range(0, len(findings), PAGE):
            yield findings[first : first + PAGE]


def _cluster(findings: Sequence[Concern], place: Mapping[str, str]) -> Cluster:
    used: dict[str, tuple[int, tuple[str, ...]]] = {}
    for finding in findings:
        for key, examples, labels in zip(
            finding.techniques, finding.examples, finding.labels, strict=True
        ):
            used.setdefault(key, (examples, labels))
    ids = sorted(used, key=lambda key: (-used[key][0], key))
    within = [item for item in findings if len({place[key] for key in item.techniques}) == 1]
    merges = _merges(within)
    merged = {key for merge in merges for key in merge.techniques[1:]}
    return Cluster(
        techniques=tuple(ids),
        examples=tuple(used[key][0] for key in ids),
        labels=tuple(used[key][1] for key in ids),
        findings=tuple(findings),
        proposals=(*merges, *_others(findings, merged)),
        moved=sum(used[key][0] for key in merged),
    )


def _merges(findings: Sequence[Concern]) -> list[Proposal]:
    """Merge each suspect into its better technique, never by way of a third.

    Of pairs that stand within one cluster: no technique is merged by two.
    """
    heirs: dict[str, str] = {}
    for finding in sorted(findings, key=lambda item: (-(item.score or 0.0), item.techniques)):
        if finding.kind == "suspect":
            first, second = finding.techniques
            if not {first, second} & heirs.keys() and second not in heirs.values():
                heirs[second] = first
    return [
        Proposal(
            kind="merge", techniques=(heir, *sorted(key for key in heirs if heirs[key] == heir))
        )
        for heir in sorted(set(heirs.values()))
    ]


def _others(findings: Sequence[Concern], merged: set[str]) -> Iterator[Proposal]:
    new = [finding.techniques[0] for finding in findings if finding.kind == "review"]
    if keys := tuple(key for key in new if key not in merged):
        yield Proposal(kind="keep", techniques=keys)
    for finding in findings:
        if finding.kind == "low-margin" and finding.techniques[0] not in merged:
            yield Proposal(kind="keep", techniques=finding.techniques[:1], alias=finding.about)
        if finding.kind == "orphan" and finding.techniques[0] not in merged:
            yield Proposal(kind="drop", techniques=finding.techniques)
