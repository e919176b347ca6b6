"""Packing of chunks of different lengths into rows of one length."""

from collections.abc import Sequence


def pack(sizes: Sequence[int], capacity: int, max_items: int) -> list[list[int]]:
    """Packs items into bins by best-fit decreasing (Johnson 1973, "Near-optimal bin packing algorithms").

    The largest item comes first. Each item goes into the bin in which it leaves the least room, or into a new
    bin if it does not fit any. Ties are broken by the order of the items, so the result depends only on the
    arguments.

    Raises:
        ValueError: if an item is larger than a bin.

    Example:

    >>> pack([3, 6, 4, 7], capacity=10, max_items=8)
    [[3, 0], [1, 2]]
    """
    order = sorted(range(len(sizes)), key=lambda index: (-sizes[index], index))
    return _best_fit(order, sizes, capacity, max_items, len(sizes))


def pack_in_order(sizes: Sequence[int], capacity: int, max_items: int, max_open: int = 64) -> list[list[int]]:
    """Packs items into bins by best fit, in the order that they have.

    Unlike `pack`, it does not bring items of like sizes together: what a bin holds follows from the order
    alone. Few bins are open at once; if there are more, the fullest one is closed.

    Raises:
        ValueError: if an item is larger than a bin.

    Example:

    >>> pack_in_order([3, 6, 4, 7], capacity=10, max_items=8)
    [[0, 1], [2], [3]]
    """
    return _best_fit(range(len(sizes)), sizes, capacity, max_items, max_open)


def _best_fit(
    order: Sequence[int], sizes: Sequence[int], capacity: int, max_items: int, max_open: int
) -> list[list[int]]:
    if sizes and max(sizes) > capacity:
        raise ValueError(f"an item of size {max(sizes)} does not fit a bin of {capacity}")
    bins: list[list[int]] = []
    open_bins = _OpenBins(capacity)
    for item in order:
        size = sizes[item]
        found = open_bins.take(size)
        target, room = found or (len(bins), capacity)
        if found is None:
            bins.append([])
        bins[target].append(item)
        if len(bins[target]) < max_items:
            open_bins.put(target, room - size)
        if open_bins.count > max_open:
            open_bins.take(0)
    return bins


class _OpenBins:
    """Bins by the room that they have left."""

    def __init__(self, capacity: int) -> None:
        self._bins: list[list[int]] = [[] for _ in range(capacity + 1)]
        self._rooms = 0  # Bit i: there are bins with i left.
        self.count = 0

    def put(self, number: int, room: int) -> None:
        self._bins[room].append(number)
        self._rooms |= 1 << room
        self.count += 1

    def take(self, size: int) -> tuple[int, int] | None:
        """Takes out the bin with the least room that is at least `size`, and returns its number and room."""
        fitting = self._rooms >> size
        if not fitting:
            return None
        room = size + (fitting & -fitting).bit_length() - 1
        number = self._bins[room].pop()
        if not self._bins[room]:
            self._rooms ^= 1 << room
        self.count -= 1
        return number, room
