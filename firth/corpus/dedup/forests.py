"""Connected components of a graph whose nodes fit into memory, while its links need not."""

from collections.abc import Iterable, Iterator

import numpy as np

from firth.corpus.grouping.tables import FOLD_ROWS, table_of


def find_forest(tables: Iterable[np.ndarray]) -> np.ndarray:
    """Returns a link from each node to the smallest node of its component, which itself has no link.

    Args:
        tables: Tables of links: `node`, `label`.

    Returns:
        Table of `node`, `label`, sorted by node.

    Example:

    >>> links = table_of(node=np.array([5, 9], np.uint64), label=np.array([3, 5], np.uint64))
    >>> find_forest([links]).tolist()
    [(5, 3), (9, 3)]
    """
    forest = np.zeros(0, [("node", np.uint64), ("label", np.uint64)])
    for links in _lots(tables):
        forest = _join(np.concatenate([forest, links]))
    return forest


def _lots(tables: Iterable[np.ndarray]) -> Iterator[np.ndarray]:
    """Yields many small tables as few large ones."""
    waiting: list[np.ndarray] = []
    for table in tables:
        waiting.append(table)
        if sum(map(len, waiting)) >= FOLD_ROWS:
            yield np.concatenate(waiting)
            waiting = []
    if waiting:
        yield np.concatenate(waiting)


def _join(links: np.ndarray) -> np.ndarray:
    nodes, places = np.unique(np.concatenate([links["node"], links["label"]]), return_inverse=True)
    ends = places.reshape(2, -1)
    # Of each node the place of a smaller one of its component, or its own.
    parents = np.arange(len(nodes))
    while True:
        roots = np.sort(parents[ends], axis=0)
        if (roots[0] == roots[1]).all():
            break
        np.minimum.at(parents, roots[1], roots[0])
        parents = _to_roots(parents)
    is_linked = parents != np.arange(len(nodes))
    return table_of(node=nodes[is_linked], label=nodes[parents[is_linked]])


def _to_roots(parents: np.ndarray) -> np.ndarray:
    while (parents != parents[parents]).any():
        parents = parents[parents]
    return parents
