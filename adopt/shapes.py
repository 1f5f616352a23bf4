"""How long an array is: by the largest index that is used, by axes where its strides show them."""

from collections.abc import Collection, Iterable

from regraph_kg.adopt.bounds import Bounds
from regraph_kg.adopt.extent import Extent

_ONE = Extent.of(1)


def extent(indices: Iterable[Extent], bounds: Bounds, places: Collection[str]) -> Extent | None:
    """One more than the largest index; None if unknown. `places` are scalars that bound nothing."""
    ends = {index: bounds.highest(index) + _ONE for index in indices}
    known = [index for index, end in ends.items() if not end.names & set(bounds.ranges)]
    known = [index for index in known if not index.names & set(places)] or known
    if not known:
        return None  # of two ends that may be equal, not the one that a condition says
    most = max(known, key=lambda i: (ends[i].magnitude, not i.names & set(bounds.held)))
    return ends[most].rounded


def shape(
    indices: Collection[Extent], bounds: Bounds, places: Collection[str]
) -> tuple[Extent, ...]:
    """That extent by axes, where an index is built of strides; else as one axis."""
    whole = extent(indices, bounds, places)
    if whole is None or not whole.is_product:
        return (whole,) if whole is not None else ()
    for index in indices:
        axes, left = list[Extent](), whole
        for stride in bounds.strides(index):
            rest = left.over(stride)
            if rest is None:
                break
            axes, left = [*axes, rest], stride
        axes = [axis for axis in axes if axis != _ONE]
        if left == _ONE and len(axes) > 1:
            return tuple(axes)
    return (whole,)


def places(indices: Collection[Extent], bounds: Bounds, lengths: Iterable[Extent]) -> set[str]:
    """Names that are indices as they are, and are part of no other index, end or length."""
    alone = {
        next(iter(index.names)) for index in indices if index.is_product and len(index.words) == 1
    }
    alone = {name for name in alone if Extent.of(name) in indices}
    ends = {end for both in bounds.ranges.values() for end in both} | set(lengths)
    others = ends | {index for index in indices if index not in map(Extent.of, alone)}
    return alone - {word for other in others for word in other.words}
