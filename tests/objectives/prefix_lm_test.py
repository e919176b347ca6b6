"""Prefix LM with literal tokens, in both architectures."""

import numpy as np
import tensorflow as tf

from firth.objectives.prefix_lm import draw_prefixes
from firth.recipes.objectives.language_models import PrefixLM
from tests.objectives.words import LECTURE, documents, made_of, spoken, word_tokenizer

OTHER = "It was fun ."
TOKENIZER = word_tokenizer(LECTURE, OTHER)


def test_prefix_lm_of_one_stack():
    made = made_of(TOKENIZER, PrefixLM(), [LECTURE, OTHER, "fun"])
    assert spoken(TOKENIZER, made["token_ids"]) == f"[CLS] {LECTURE} [CLS] {OTHER} [CLS] fun"
    labels = documents(TOKENIZER, made["label_ids"], made["document_ids"])
    for text, label, number in zip((LECTURE, OTHER), labels, (1, 2)):
        assert 0 < len(label.split()) - 1 < len(text.split())
        assert f"{text} [SEP]".endswith(label)
        mine = made["document_ids"] == number
        prefix = len(text.split()) - (len(label.split()) - 1)
        size = mine.sum()
        # The last token of the prefix predicts the first of the rest.
        assert made["label_weights"][mine].tolist() == [0.0] * prefix + [1.0] * (size - prefix)
        order = [0] * (prefix + 1) + list(range(prefix + 1, size))
        assert made["attention_order"][mine].tolist() == order
    assert labels[2] == ""
    assert not made["label_weights"][made["document_ids"] == 3].any()


def test_prefix_lm_of_encoder_and_decoder():
    made = made_of(TOKENIZER, PrefixLM(architecture="encoder_decoder"), [LECTURE, OTHER, "fun"])
    inputs = documents(TOKENIZER, made["token_ids"], made["document_ids"])
    labels = documents(TOKENIZER, made["label_ids"], made["decoder_document_ids"])
    read = made["decoder_token_ids"]
    for number, text in enumerate((LECTURE, OTHER)):
        assert inputs[number].removesuffix("[SEP]") + labels[number] == f"{text} [SEP]"
        mine = read[made["decoder_document_ids"] == number + 1]
        assert mine[0] == TOKENIZER.pad_id
        assert spoken(TOKENIZER, mine[1:]) == labels[number].removesuffix("[SEP]").strip()
    assert inputs[2] == "fun [SEP]"
    assert not made["label_weights"][made["decoder_document_ids"] == 3].any()


def test_both_architectures_split_alike():
    architectures = ("decoder", "encoder_decoder")
    one, two = (made_of(TOKENIZER, PrefixLM(architecture=each), [LECTURE]) for each in architectures)
    assert spoken(TOKENIZER, two["token_ids"]).removesuffix(" [SEP]") == spoken(
        TOKENIZER, one["token_ids"][(one["attention_order"] == 0) & (one["document_ids"] > 0)][1:]
    )


def test_splits_are_uniform_with_a_token_on_each_side():
    seeds = tf.stack([tf.zeros(3000, tf.int32), tf.range(3000)], axis=1)
    lengths = tf.constant([7, 2, 1, 0])
    drawn = tf.function(
        lambda: tf.map_fn(lambda seed: draw_prefixes(lengths, seed), seeds), autograph=False
    )().numpy()
    values, counts = np.unique(drawn[:, 0], return_counts=True)
    assert values.tolist() == [1, 2, 3, 4, 5, 6]
    np.testing.assert_allclose(counts, 500, atol=4 * np.sqrt(3000 * 5 / 36))
    assert np.unique(drawn[:, 1:], axis=0).tolist() == [[1, 1, 0]]
