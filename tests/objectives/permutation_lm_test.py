"""XLNet's orders."""

import numpy as np
import pytest
import tensorflow as tf

from firth.objectives import OBJECTIVES
from firth.recipes.objectives.language_models import PermutationLM
from firth.recipes.tokenizers.tokenizer import Sequences
from tests.objectives.cases import make, of_each
from tests.objectives.words import LECTURE, spoken, word_row, word_tokenizer

TOKENIZER = word_tokenizer(LECTURE)


def test_literal_example():
    config = PermutationLM(predicted_fraction=0.35, max_predictions=5)
    objective = OBJECTIVES["permutation_lm"](config, Sequences(length=15, max_documents=1), TOKENIZER)
    one = word_row(TOKENIZER, ["Thank you for inviting me | to your party last week ."], 12, 1)
    made = {name: value.numpy() for name, value in objective(one, None, seed=[1, 2]).items()}
    assert spoken(TOKENIZER, made["token_ids"]) == (
        "Thank you for inviting me [SEP] to your party last week . [SEP] [CLS]"
    )
    assert made["segment_ids"].tolist() == [0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 2, 0]
    order, chosen = made["attention_order"], made["masked_positions"][:4]
    assert order[[5, 12, 13, 14]].tolist() == [0, 0, 0, 0]
    assert sorted(order[[*range(5), *range(6, 12)]].tolist()) == list(range(1, 12))
    assert sorted(order[chosen].tolist()) == [8, 9, 10, 11]
    assert spoken(TOKENIZER, made["masked_labels"][:4]).split() == [
        spoken(TOKENIZER, made["token_ids"]).split()[position] for position in chosen
    ]


@pytest.mark.parametrize("name", of_each(["permutation", "permutation-hard"]))
def test_predicted_tokens_come_last_and_special_ones_first(name):
    for one, documents in make(name).each():
        chosen = set(one["masked_positions"][one["masked_weights"] > 0].tolist())
        for number, text in enumerate(documents):
            mine = np.flatnonzero(one["document_ids"] == number + 1)
            order = one["attention_order"][mine]
            assert (order == 0).sum() == 3 and len(set(order.tolist())) == len(text) + 1
            # A [SEP] or [CLS] is not of the text; what is typed there may be anything.
            assert one["token_ids"][mine][order == 0].tolist() == [3, 3, 2]
            predicted = np.isin(mine, list(chosen))
            if predicted.any() and (~predicted & (order > 0)).any():
                assert order[predicted].min() > order[~predicted].max()


def test_every_order_of_the_context_and_of_the_predictions():
    """A row of four tokens, two predicted: the orders of each kind are equally frequent."""
    config = PermutationLM(predicted_fraction=0.5, max_predictions=2, max_span=1)
    objective = OBJECTIVES["permutation_lm"](config, Sequences(length=8, max_documents=1), TOKENIZER)
    one = word_row(TOKENIZER, ["Thank you for inviting"], 5, 1)
    seeds = tf.stack([tf.zeros(2400, tf.int32), tf.range(2400)], axis=1)
    orders = tf.function(
        lambda: tf.map_fn(
            lambda seed: objective(one, None, seed)["attention_order"], seeds, fn_output_signature=tf.int32
        ),
        autograph=False,
    )().numpy()
    text = np.stack([row[row > 0] for row in orders])
    found, counts = np.unique(text, axis=0, return_counts=True)
    assert len(found) == 24
    np.testing.assert_allclose(counts, 100, atol=4.5 * np.sqrt(100))
