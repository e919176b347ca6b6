"""Packing of chunks of different lengths into rows of one length."""

from collections.abc import Sequence


def pack(sizes: Sequence[int], capacity: int, max_items: int) -> list[list[int]]:
    """Packs items into bins by best-fit decreasing (Johnson 1973, "Near-optimal bin packing algorithms").

    The largest item comes first. Each item goes into the bin in which it leaves the least room, or into a new
    bin if it does not fit any. Ties are broken by the order of the items, so the result depends only on the
    arguments.

    Args:
        sizes: Sizes of the items, at most `capacity` each.
        capacity: Size of a bin.
        max_items: Greatest number of items in a bin.

    Returns:
        The indices of the items in each bin.

    Raises:
        ValueError: if an item is larger than a bin.

    Example:

    >>> pack([3, 6, 4, 7], capacity=10, max_items=8)
    [[3, 0], [1, 2]]
    """
    if sizes and max(sizes) > capacity:
        raise ValueError(f"an item of size {max(sizes)} does not fit a bin of {capacity}")
    bins: list[list[int]] = []
    open_bins: list[list[int]] = [[] for _ in range(capacity + 1)]  # by room left
    for item in sorted(range(len(sizes)), key=lambda index: (-sizes[index], index)):
        size = sizes[item]
        room = next((room for room in range(size, capacity + 1) if open_bins[room]), None)
        if room is None:
            target, room = len(bins), capacity
            bins.append([])
        else:
            target = open_bins[room].pop()
        bins[target].append(item)
        if len(bins[target]) < max_items:
            open_bins[room - size].append(target)
    return bins
