"""Chunks of different lengths packed into rows of one length."""

from collections.abc import Sequence


def pack(sizes: Sequence[int], capacity: int, max_items: int) -> list[list[int]]:
    """Packs items into bins by best-fit decreasing (Johnson 1973, "Near-optimal bin packing algorithms").

    The largest item comes first, each goes where it leaves the least room, and into a new bin where it fits
    nowhere. Ties go by the items' order, so the result depends on nothing but the arguments.

    Args:
        sizes: Of the items, at most `capacity` each.
        capacity: Of a bin.
        max_items: Most items of a bin.

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
