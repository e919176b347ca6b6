import numpy as np
import pytest
import tensorflow as tf

from firth.training.input_pipeline import choose_negatives, mix, objective_seeds, shuffled_rows
from firth.training.row_files import read_rows
from tests.training.artifacts import LIMITS, raw_row, write_rows


def order(start, stop, rows, seed=42):
    indices, epochs = shuffled_rows(tf.range(start, stop, dtype=tf.int64), rows, seed)
    return indices.numpy().tolist(), epochs.numpy().tolist()


@pytest.mark.parametrize("rows", [1, 2, 7, 100])
def test_each_epoch_is_a_permutation(rows):
    indices, epochs = order(0, 3 * rows, rows)
    for epoch in range(3):
        assert sorted(indices[epoch * rows : (epoch + 1) * rows]) == list(range(rows))
    assert epochs == [0] * rows + [1] * rows + [2] * rows


def test_epochs_and_seeds_differ():
    first, second = np.split(np.array(order(0, 200, 100)[0]), 2)
    assert (first == second).mean() < 0.1
    assert (first == np.array(order(0, 100, 100, seed=43)[0])).mean() < 0.1
    assert (first == np.arange(100)).mean() < 0.1


def test_order_does_not_depend_on_where_it_starts():
    assert order(0, 50, 20)[0][30:] == order(30, 50, 20)[0]


def test_mix_is_a_fixed_hash():
    """The first number of SplitMix64 from 0, as published; another hash would change every run."""
    assert int(mix(0)) == 0xE220A8397B1DCDAF
    assert mix(1, 2) != mix(2, 1)


def test_mix_spreads():
    hashes = mix(7, np.arange(-500, 500))
    assert len(set(hashes.tolist())) == 1000
    bits = (hashes[:, np.newaxis] >> np.arange(64, dtype=np.uint64)) & np.uint64(1)
    np.testing.assert_allclose(bits.mean(axis=0), 0.5, atol=0.07)


def test_objective_seeds_differ_by_seed_epoch_and_example():
    seeds = [
        objective_seeds(seed, [epoch], [example])[0]
        for seed in (1, 2)
        for epoch in (0, 1)
        for example in (0, 1)
    ]
    assert len({tuple(seed.tolist()) for seed in seeds}) == 8
    assert objective_seeds(1, [0, 0], [5, -6]).dtype == np.int64


def rows_of(tmp_path, documents):
    path = tmp_path / "rows.gz"
    write_rows(path, [raw_row(index, document) for index, document in enumerate(documents)])
    return read_rows([str(path)], tmp_path / "cache", LIMITS)


def negatives(rows, epoch=0, seed=42):
    taken = rows.take(np.arange(len(rows)))
    epochs = np.full(len(rows), epoch)
    chosen = choose_negatives(rows, taken["example_id"], taken["document_keys"], epochs, seed)
    return chosen, taken["document_keys"]


def test_negative_shares_no_document(tmp_path):
    """Nine rows of ten are of one document, so that probing has to go far and around the end."""
    rows = rows_of(tmp_path, [7] * 90 + list(range(100, 110)))
    chosen, keys = negatives(rows)
    assert (chosen >= 0).all()
    assert not (keys[chosen] == keys).any()


def test_negatives_differ_by_epoch_and_seed(tmp_path):
    rows = rows_of(tmp_path, range(1, 61))
    first = negatives(rows)[0]
    np.testing.assert_array_equal(first, negatives(rows)[0])
    for other in (negatives(rows, epoch=1)[0], negatives(rows, seed=43)[0]):
        assert (first == other).mean() < 0.2
    assert len(set(first.tolist())) > 30


def test_no_negative_in_a_split_of_one_document(tmp_path):
    chosen, _ = negatives(rows_of(tmp_path, [7] * 40))
    assert (chosen == -1).all()
