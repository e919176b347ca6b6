"""Connected components of a graph whose nodes fit into memory, while its links need not."""

from collections.abc import Iterable

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from firth.corpus.grouping.tables import FOLD_ROWS, table_of


def find_forest(tables: Iterable[np.ndarray]) -> np.ndarray:
    """Returns a link from each node to the smallest node of its component, which itself has no link.

    Example:

    >>> links = table_of(node=np.array([5, 9], np.uint64), label=np.array([3, 5], np.uint64))
    >>> find_forest([links]).tolist()
    [(5, 3), (9, 3)]
    """
    forest = np.zeros(0, [("node", np.uint64), ("label", np.uint64)])
    waiting: list[np.ndarray] = []
    for links in tables:
        waiting.append(links)
        # As many as are in the forest, so that no link is sorted again and again.
        if sum(map(len, waiting)) >= max(FOLD_ROWS, len(forest)):
            forest = _join(np.concatenate([forest, *waiting]))
            waiting = []
    return _join(np.concatenate([forest, *waiting]))


def _join(links: np.ndarray) -> np.ndarray:
    nodes, places = np.unique(np.concatenate([links["node"], links["label"]]), return_inverse=True)
    ends = tuple(places.reshape(2, -1))
    adjacency = sparse.coo_array((np.ones(len(links), np.int8), ends), shape=(len(nodes), len(nodes)))
    _, components = connected_components(adjacency, directed=False)
    # Nodes are sorted, so that the first of a component is its smallest.
    _, smallest = np.unique(components, return_index=True)
    labels = nodes[smallest[components]]
    is_linked = labels != nodes
    return table_of(node=nodes[is_linked], label=labels[is_linked])
