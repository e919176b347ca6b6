import itertools

import numpy as np
import pytest

from firth.objectives import MaskedLMObjective
from firth.recipes.objectives.masking import MaskedLM
from firth.recipes.tokenizers.tokenizer import Sequences
from firth.tokenizers import WordPieceTokenizer
from firth.training.input_pipeline import training_batches
from firth.training.row_files import read_rows
from tests.training.artifacts import (
    DOCUMENTS,
    LENGTH,
    LIMITS,
    PAIRS,
    VOCABULARY,
    pair_row,
    raw_row,
    write_rows,
    write_split,
)
from tests.training.traced_objectives import traced

BATCH = 4


@pytest.fixture(scope="module")
def objective():
    sequences = Sequences(length=LENGTH, max_documents=DOCUMENTS)
    return MaskedLMObjective(MaskedLM(max_predictions=5), sequences, WordPieceTokenizer(VOCABULARY))


@pytest.fixture(scope="module")
def graph(objective):
    """The same in one graph for all batches, each of which would trace it anew."""
    return traced(objective)


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    directory = tmp_path_factory.mktemp("rows")
    return read_rows(write_split(directory, count=10), directory / "cache", LIMITS)


@pytest.fixture(scope="module")
def batches(rows, graph):
    return list(training_batches(rows, graph, 42, BATCH, 0, 10).as_numpy_iterator())


def test_batches_are_as_specified(batches, objective):
    assert len(batches) == 10
    for ids, features in batches:
        assert ids.shape == (BATCH,)
        assert ids.dtype == np.int64
        for name, spec in objective.specs().items():
            assert features[name].shape == (BATCH, *spec.shape)
            assert features[name].dtype == spec.dtype


@pytest.mark.repeated
def test_a_later_start_gives_the_same_steps(rows, graph, batches):
    start = 7
    resumed = list(training_batches(rows, graph, 42, BATCH, start, 10).as_numpy_iterator())
    assert len(resumed) == 10 - start
    for (ids, features), (ids_before, features_before) in zip(resumed, batches[start:]):
        np.testing.assert_array_equal(ids, ids_before)
        for name, value in features.items():
            np.testing.assert_array_equal(value, features_before[name], name)


def test_epochs_hold_every_row_once_and_follow_without_a_gap(rows, batches):
    """Ten rows in batches of four: the third batch reaches into the second epoch."""
    stream = np.concatenate([ids for ids, _ in batches])
    for epoch in range(4):
        assert sorted(stream[10 * epoch : 10 * epoch + 10]) == rows.take(np.arange(10))["example_id"].tolist()


def test_masks_and_pairs_of_an_example_differ_by_epoch(batches):
    by_example: dict[int, list] = {}
    for ids, features in batches:
        for index, example in enumerate(ids.tolist()):
            by_example.setdefault(example, []).append(
                {name: value[index] for name, value in features.items()}
            )
    for name in ("masked_positions", "next_sentence_labels"):
        differ = [
            (one[name] != other[name]).any()
            for made in by_example.values()
            for one, other in itertools.combinations(made, 2)
        ]
        assert np.mean(differ) > 0.5


def test_later_epochs_repeat_the_masks_and_pairs_of_so_many(rows, objective, graph):
    """Static masking: the rows come in an order of their own in each epoch, and are what they were."""
    copies = 3
    config = MaskedLM(masking_copies=copies)
    assert not MaskedLM(masking_copies=1).epochs_drawn(np.arange(7)).any()
    batches = training_batches(rows, graph, 42, 10, 0, 7, epochs_drawn=config.epochs_drawn)
    seen = []
    for ids, features in batches.as_numpy_iterator():
        order = np.argsort(ids)
        seen.append((ids, {name: value[order] for name, value in features.items()}))
    assert all((one != other).any() for (one, _), (other, _) in itertools.combinations(seen, 2))
    for first, second in itertools.combinations(range(7), 2):
        same = all((seen[first][1][name] == seen[second][1][name]).all() for name in objective.specs())
        assert (seen[first][1]["noise_keys"] != seen[second][1]["noise_keys"]).any()
        assert same == (first % copies == second % copies)


def test_another_seed_gives_another_run(rows, batches):
    def seeds(row, negative, seed):
        del row, negative
        return {"seed": seed}

    of_42, of_43 = (
        list(training_batches(rows, seeds, run, BATCH, 0, 10).as_numpy_iterator()) for run in (42, 43)
    )
    for (ids, _), (before, _) in zip(of_42, batches, strict=True):
        np.testing.assert_array_equal(ids, before)
    assert any((ids != before).any() for (ids, _), (before, _) in zip(of_43, of_42, strict=True))
    # And other masks of the same rows.
    drawn = [{tuple(each) for _, made in run for each in made["seed"].tolist()} for run in (of_42, of_43)]
    assert not drawn[0] & drawn[1]


def test_pairs_are_half_random_with_negatives_and_have_no_label_without(rows, graph, batches, tmp_path):
    def random_share(batches):
        labels = np.concatenate([features["next_sentence_labels"].flatten() for _, features in batches])
        weights = np.concatenate([features["next_sentence_weights"].flatten() for _, features in batches])
        return labels[weights > 0].mean()

    assert abs(random_share(batches) - 0.5) < 4 * 0.5 / np.sqrt(80)
    alone = training_batches(rows, graph, 42, BATCH, 0, 10, negatives=False)
    assert not any(features["next_sentence_weights"].any() for _, features in alone.as_numpy_iterator())
    write_rows(tmp_path / "rows.gz", [raw_row(index, document=5) for index in range(6)])
    one_document = read_rows([str(tmp_path / "rows.gz")], tmp_path / "cache", LIMITS)
    made = list(training_batches(one_document, graph, 42, BATCH, 0, 5).as_numpy_iterator())
    assert not any(features["next_sentence_weights"].any() for _, features in made)


def test_labels_come_with_their_row(tmp_path):
    write_rows(tmp_path / "rows.gz", [pair_row(index) for index in range(10)])
    rows = read_rows([str(tmp_path / "rows.gz")], tmp_path / "cache", PAIRS)

    def goal(row, negative, seed):
        del seed
        return {
            "labels": row["record_labels"],
            "key": row["document_keys"],
            "other": negative["record_labels"],
        }

    seen = []
    for _, made in training_batches(rows, goal, 42, 5, 0, 2, negatives=False).as_numpy_iterator():
        assert made["labels"].dtype == np.float32 and not made["other"].any()
        for keys, labels in zip(made["key"], made["labels"]):
            index = (keys[0] - 1) // 100
            wanted = pair_row(index)["record_labels"]
            assert labels.tolist() == wanted + [0.0] * (3 - len(wanted))
            seen.append(index)
    assert sorted(seen) == list(range(10))


def test_a_mask_rate_goes_from_its_first_to_its_last(rows):
    """It is a function of the step, so a resumed run makes the same rows."""
    config = MaskedLM(mask_rate=0.1, first_mask_rate=0.5, max_predictions=16, next_sentence=False)
    sequences = Sequences(length=LENGTH, max_documents=DOCUMENTS)
    objective = traced(MaskedLMObjective(config, sequences, WordPieceTokenizer(VOCABULARY)))

    def batches(*steps, run=None):
        found = training_batches(rows, objective, 42, BATCH, *steps, run=run).as_numpy_iterator()
        return [made for _, made in found]

    def check(found, first, of_run):
        for step, made in enumerate(found, first):
            # Each of the two documents has a [CLS] and a [SEP].
            maskable = (made["document_ids"] > 0).sum(axis=1) - 2 * DOCUMENTS
            rate = 0.5 - 0.4 * step / (of_run - 1)
            predicted = made["masked_weights"].sum(axis=1)
            np.testing.assert_array_equal(predicted, np.maximum(np.round(rate * maskable), 1), str(step))

    whole = batches(0, 11)
    check(whole, 0, 11)
    resumed = batches(6, 11)
    assert len(resumed) == 5
    for made, before in zip(resumed, whole[6:]):
        np.testing.assert_array_equal(made["token_ids"], before["token_ids"])
    # The second stage of a longer run.
    check(batches(0, 11, run=(10, 21)), 10, 21)
