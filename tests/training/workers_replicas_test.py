import functools
import shutil

import numpy as np
import pytest

from firth import features
from firth.objectives import MaskedLMObjective
from firth.tokenizers import WordPieceTokenizer
from firth.training.input_pipeline import training_batches
from firth.training.pretraining import open_rows
from firth.training.workers import BatchShare
from tests.training.artifacts import VOCABULARY, tiny_recipe, write_artifact, write_split
from tests.training.traced_objectives import traced

BATCH, STEPS = 8, 5


@pytest.fixture(scope="module")
def read(tmp_path_factory):
    """A function from a share to the parts of the batches that it has."""
    directory = tmp_path_factory.mktemp("rows")
    return reader(directory, write_artifact(directory))


@functools.cache
def objective():
    recipe = tiny_recipe()
    return traced(MaskedLMObjective(recipe.objective, recipe.sequences, WordPieceTokenizer(VOCABULARY)))


def reader(directory, files):
    rows = open_rows(tiny_recipe(), files, str(directory / "checkpoints"))

    @functools.cache
    def of_share(share):
        data = training_batches(rows, objective(), 42, BATCH, 2, 2 + STEPS, share=share)
        assert data.element_spec[0].shape == (share.rows_of_replica(BATCH),)
        return list(data.as_numpy_iterator())

    return of_share


@pytest.mark.parametrize(
    ("workers", "replicas"),
    [(2, 4), *(pytest.param(*each, marks=pytest.mark.repeated) for each in ((1, 2), (4, 8)))],
)
def test_shares_are_the_batches_of_one_process_in_order(read, workers, replicas):
    """Masks and the keys of dropout among them: nothing of a row follows from who reads it."""
    parts = [read(BatchShare(worker, workers, replicas)) for worker in range(workers)]
    local = replicas // workers
    for step, (ids, whole) in enumerate(read(BatchShare())):
        pieces = [piece for part in parts for piece in part[step * local : (step + 1) * local]]
        assert len(pieces) == replicas
        np.testing.assert_array_equal(np.concatenate([piece[0] for piece in pieces]), ids)
        for name in (features.TOKEN_IDS, features.MASKED_POSITIONS, features.NOISE_KEYS):
            np.testing.assert_array_equal(np.concatenate([piece[1][name] for piece in pieces]), whole[name])
    assert all(len(part) == STEPS * local for part in parts)


def test_batches_do_not_follow_from_the_number_of_files(read, tmp_path):
    write_artifact(tmp_path)
    shutil.rmtree(tmp_path / "Split-train")
    other = reader(tmp_path, write_split(tmp_path, shards=7))
    for share in (BatchShare(), BatchShare(1, 2, 4)):
        for (ids, batch), (other_ids, other_batch) in zip(read(share), other(share), strict=True):
            np.testing.assert_array_equal(ids, other_ids)
            for name, values in batch.items():
                np.testing.assert_array_equal(values, other_batch[name])
