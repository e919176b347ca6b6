import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings, strategies as st

from firth import features
from firth.features import evaluation_sums
from firth.models import example_sums
from firth.objectives import OBJECTIVES
from firth.serving.encoding import parse_rows
from firth.serving.evaluate import evaluator, in_chunks
from tests.exported_model import (
    RECIPE,
    UNIGRAM_COUNTS,
    VOCABULARY,
    exported_model,
    loaded_model,
    make_row,
    make_served,
)

SPECS = features.row_specs(21, 3)
SUMS = evaluation_sums(RECIPE.goal.loss_classes)


def evaluate(rows):
    outputs = loaded_model().signatures["evaluate"](examples=tf.constant(rows, tf.string))
    return {name: value.numpy() for name, value in outputs.items()}


def test_a_row_is_padded_to_its_specs():
    row = make_row(np.random.default_rng(3), 5, b"web")
    example = tf.train.Example.FromString(row).features.feature
    rows, negatives = parse_rows(tf.constant([row]), SPECS)
    assert {name: (value.dtype.name, tuple(value.shape[1:])) for name, value in rows.items()} == {
        name: (spec.dtype, spec.shape) for name, spec in SPECS.items()
    }
    assert rows["example_id"].numpy().tolist() == [5]
    tokens = list(example["tokens"].int64_list.value)
    assert rows["tokens"][0].numpy().tolist() == tokens + [0] * (21 - len(tokens))
    keys = list(example["negative_document_keys"].int64_list.value)
    assert negatives["document_keys"][0].numpy().tolist() == [*keys, 0]


def test_a_row_without_negative_gets_zeros():
    row = make_row(np.random.default_rng(3), 5, b"web", negative=False)
    _, negatives = parse_rows(tf.constant([row]), SPECS)
    assert not any(value.numpy().any() for value in negatives.values())


def test_rows_of_other_models_are_refused():
    row = make_row(np.random.default_rng(3), 5, b"web")
    with pytest.raises(tf.errors.InvalidArgumentError, match="tokens: "):
        parse_rows(tf.constant([row]), features.row_specs(3, 3))
    with pytest.raises(tf.errors.InvalidArgumentError, match="chunk_lengths: "):
        parse_rows(tf.constant([row]), features.row_specs(21, 1))


def test_pieces_of_another_vocabulary_are_refused():
    example = tf.train.Example.FromString(exported_model().rows[0])
    example.features.feature["tokens"].int64_list.value[0] = 40
    with pytest.raises(tf.errors.InvalidArgumentError, match="vocabulary of 40"):
        evaluate([example.SerializeToString()])


def test_sums_are_those_of_the_model_on_the_objectives_features():
    exported = exported_model()
    served = exported.served
    objective = OBJECTIVES["masked_lm"](RECIPE.objective, RECIPE.sequences, served.tokenizer)
    smoothed = UNIGRAM_COUNTS[: len(VOCABULARY)] + 1.0
    unigram = -np.log(smoothed / smoothed.sum())
    outputs = evaluate(exported.rows)
    # Rows of both sources.
    for index, serialized in enumerate(exported.rows[:4]):
        rows, negatives = parse_rows(tf.constant([serialized]), SPECS)
        row, negative = ({name: value[0] for name, value in part.items()} for part in (rows, negatives))
        made = objective(row, negative, tf.constant([RECIPE.seed, index], tf.int64))
        batch = {name: value[tf.newaxis] for name, value in made.items()}
        sums = example_sums(served.model(batch, training=False))
        for name, value in sums.items():
            np.testing.assert_allclose(outputs[name][index], value[0], rtol=1e-4, atol=1e-5, err_msg=name)
        expected = (unigram[made["masked_labels"].numpy()] * made["masked_weights"].numpy()).sum()
        np.testing.assert_allclose(outputs["unigram_loss_sum"][index], expected, rtol=1e-5)
        used = made["masked_labels"].numpy()[made["masked_weights"].numpy() > 0]
        spelled = [VOCABULARY[label].removeprefix("##").encode() for label in used]
        np.testing.assert_allclose(outputs["bytes_sum"][index], sum(map(len, spelled)))
    assert outputs["mlm_weight_sum"].min() >= 1
    assert outputs["nsp_weight_sum"].min() >= 1


@settings(max_examples=8, deadline=None, derandomize=True)
@given(st.permutations(range(10)), st.integers(1, 10))
def test_a_rows_figures_do_not_depend_on_its_batch(order, size):
    rows = exported_model().rows
    whole = evaluate(rows)
    for start in range(0, len(rows), size):
        part = order[start : start + size]
        outputs = evaluate([rows[index] for index in part])
        for name in SUMS:
            np.testing.assert_allclose(outputs[name], whole[name][part], rtol=1e-4, atol=1e-5, err_msg=name)


def test_without_next_sentence_prediction_there_are_no_sums_of_it():
    objective = RECIPE.objective.model_copy(update={"next_sentence": False})
    served = make_served(RECIPE.model_copy(update={"objective": objective}))
    sums = evaluator(served, np.zeros(len(VOCABULARY), np.float32))(tf.constant(exported_model().rows[:2]))
    assert set(sums) == {name for name in SUMS if not name.startswith("nsp")}
    assert (sums["mlm_weight_sum"].numpy() > 0).all()


def test_masks_differ_between_rows_and_not_between_calls():
    row = tf.train.Example.FromString(exported_model().rows[0])
    twins = []
    for example_id in range(6):
        row.features.feature["example_id"].int64_list.value[:] = [example_id]
        twins.append(row.SerializeToString())
    first, again = evaluate(twins), evaluate(twins)
    np.testing.assert_array_equal(first["mlm_loss_sum"], again["mlm_loss_sum"])
    assert len(set(first["mlm_loss_sum"].round(4).tolist())) > 1


@given(st.integers(0, 20), st.integers(1, 7))
@settings(max_examples=10, deadline=None, derandomize=True)
def test_chunks_come_back_in_order_and_are_no_larger_than_asked(total, size):

    def function(values):
        table = values[:, tf.newaxis, tf.newaxis] * tf.constant([[1, 2, 3]])
        return {
            "sums": tf.cast(values, tf.float32) * 2.0,
            "tables": tf.cast(table, tf.int64),
            "names": tf.strings.as_string(values),
            "sizes": tf.fill(tf.shape(values), tf.size(values)),
        }

    joined = in_chunks(function, tf.range(total), size)
    assert max(joined["sizes"].numpy(), default=0) <= size
    np.testing.assert_array_equal(joined["sums"], np.arange(total) * 2.0)
    assert joined["tables"].dtype == tf.int64
    np.testing.assert_array_equal(joined["tables"], np.arange(total)[:, None, None] * [[1, 2, 3]])
    assert joined["names"].numpy().tolist() == [str(each).encode() for each in range(total)]
