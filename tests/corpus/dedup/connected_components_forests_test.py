import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from firth.corpus.dedup.connected_components import find_forest
from firth.corpus.grouping.tables import table_of

NODES = st.sampled_from([0, 1, 2, 3, 5, 8, 2**31, 2**63, 2**64 - 2, 2**64 - 1])
LINKS = st.lists(st.tuples(NODES, NODES), max_size=20)


def smallest_of_each(links) -> dict[int, int]:
    """Returns the smallest node of the component of each node that is not that, by union-find."""
    parents = {node: node for link in links for node in link}

    def root(node: int) -> int:
        return node if parents[node] == node else root(parents[node])

    for link in links:
        low, high = sorted(map(root, link))
        parents[high] = low
    return {node: root(node) for node in parents if root(node) != node}


@settings(max_examples=50, deadline=None, derandomize=True)
@given(st.lists(LINKS, max_size=4), st.integers(1, 30))
def test_nodes_are_linked_to_the_smallest_of_their_component(parts, rows_at_once):
    tables = [
        table_of(
            node=np.array([a for a, _ in part], np.uint64), label=np.array([b for _, b in part], np.uint64)
        )
        for part in parts
    ]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("firth.corpus.grouping.tables.FOLD_ROWS", rows_at_once)
        forest = find_forest(tables)
    assert forest["node"].dtype == forest["label"].dtype == np.uint64
    assert forest["node"].tolist() == sorted(forest["node"].tolist())
    assert dict(forest.tolist()) == smallest_of_each([link for part in parts for link in part])


def test_without_links_there_is_no_forest():
    assert len(find_forest([])) == 0
