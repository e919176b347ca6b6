import itertools
import json
import pathlib
import random

import apache_beam as beam
import numpy as np
import pytest

from firth.corpus.dedup.connected_components import GROUPS_AT_ONCE, ConnectedComponents, check_settled
from firth.corpus.documents.errors import UnsettledClustersError
from firth.corpus.documents.steps import Grouping
from firth.corpus.grouping.tables import FirstRows, distinct, table_of
from tests.corpus.helpers import make_pipeline
from tests.repeating import often

# So many groups are too much for one worker.
SEVERAL = 2 * GROUPS_AT_ONCE


def components(path, edges, rounds: int, groups: int, batch: int = 5) -> dict[int, int]:
    """Returns the label of each node that has one."""
    columns = np.array(edges, np.uint64).T
    table = table_of(node=columns[0], label=columns[1])
    parts = [table[start : start + batch] for start in range(0, len(table), batch)]
    with make_pipeline() as pipeline:
        labels = pipeline | beam.Create(parts) | ConnectedComponents(rounds, Grouping(groups))
        _ = labels | beam.combiners.ToList() | beam.Map(settle, str(path), rounds)
    return json.loads(path.read_text(), object_pairs_hook=lambda pairs: {int(a): b for a, b in pairs})


def settle(links, path: str, rounds: int) -> None:
    joined = distinct(np.concatenate(links))
    labels = FirstRows([joined], "node", ["label"])
    check_settled(labels, [joined], [table_of(node=np.unique(joined["label"]))], rounds, "near")
    pathlib.Path(path).write_text(json.dumps(dict(joined.tolist())))


def naive(edges) -> dict[int, int]:
    label = {node: node for edge in edges for node in edge}
    while True:
        before = dict(label)
        for a, b in edges:
            label[a] = label[b] = min(label[a], label[b])
        if label == before:
            return {node: smallest for node, smallest in label.items() if node != smallest}


@pytest.mark.parametrize("groups", often([GROUPS_AT_ONCE, 3 * GROUPS_AT_ONCE], [GROUPS_AT_ONCE]))
def test_components_are_those_of_a_naive_search(tmp_path, groups):
    generator = random.Random(groups)
    edges = [tuple(generator.sample(range(150), 2)) for _ in range(80)]
    assert components(tmp_path / "labels", edges, rounds=5, groups=groups) == naive(edges)


@pytest.mark.parametrize("rounds", often([3, 5], [3]))
def test_rounds_are_enough_for_chains_as_long_as_stated(tmp_path, rounds):
    # One chain in order, and one that is not.
    size = 2 ** (rounds - 1)
    chains = [range(size), random.Random(1).sample(range(size, 2 * size), size)]
    edges = [edge for chain in chains for edge in itertools.pairwise(chain)]
    found = components(tmp_path / "labels", edges, rounds, SEVERAL)
    assert found == {node: node // size * size for node in range(2 * size) if node % size}


def test_too_few_rounds_are_an_error_that_names_the_setting(tmp_path):
    ids = list(range(200))
    with pytest.raises(Exception, match=r"'near'.* 2 rounds .*`rounds`"):
        components(tmp_path / "labels", list(itertools.pairwise(ids)), 2, SEVERAL)
    assert issubclass(UnsettledClustersError, ValueError)
