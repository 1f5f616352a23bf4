"""What a function does with one array, as far as it was looked at."""

from dataclasses import dataclass, field

from regraph_kg.adopt.extent import Extent


@dataclass
class Use:
    """What is known of one array."""

    indices: list[Extent] = field(default_factory=list)
    is_read: bool = False
    is_written: bool = False
    is_filled: bool = False
    """Written before it was read, unconditionally, from its first element on."""
    filled_to: Extent | None = None
    """Elements that are, from the first one on; None where it is filled by other ways."""
    is_resized: bool = False
    """Its length becomes what the body does not say: it depends on the data."""
    is_sized: bool = False
    """The body gives it its length."""
    own_length: bool = False
    """The body asks for its size, or takes the whole of it."""

    is_elsewhere: bool = False
    """At indices, too, that are not known."""

    def fill(self, start: Extent, end: Extent) -> None:
        """Take elements for written that begin with the first, or where the others end."""
        if start.number == 0 and not self.is_read:
            before = self.filled_to or end
            if not (self.is_filled and self.filled_to is None):
                self.filled_to = max(before, end, key=lambda one: one.magnitude)
            self.is_filled = True
        elif start == self.filled_to:
            self.filled_to = end
