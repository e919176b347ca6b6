"""Causal, prefix and bidirectional LM, with literal tokens."""

import numpy as np
import tensorflow as tf

from firth.objectives import OBJECTIVES
from firth.objectives.prefix_lm import draw_prefixes
from firth.recipes.language_models import BidirectionalLM, CausalLM, PrefixLM
from firth.recipes.tokenizer import Sequences
from firth.tokenizers.word import WordTokenizer
from tests.objectives.cases import make
from tests.objectives.rows import row
from tests.objectives.words import LECTURE, documents, spoken, word_row, word_tokenizer

OTHER = "It was fun ."
TOKENIZER = word_tokenizer(LECTURE, OTHER)


def make_row(config, texts, length=20, max_documents=3, seed=(1, 2)):
    sequences = Sequences(length=length, max_documents=max_documents)
    objective = OBJECTIVES[config.kind](config, sequences, TOKENIZER)
    one = word_row(TOKENIZER, texts, objective.raw_length, max_documents)
    return {name: value.numpy() for name, value in objective(one, None, seed=list(seed)).items()}


def test_causal_lm():
    made = make_row(CausalLM(), [LECTURE, OTHER, "fun"])
    assert spoken(TOKENIZER, made["token_ids"]) == f"[CLS] {LECTURE} [CLS] {OTHER} [CLS] fun"
    assert spoken(TOKENIZER, made["label_ids"]) == f"{LECTURE} [SEP] {OTHER} [SEP] fun [SEP]"
    assert made["document_ids"].tolist() == [1] * 12 + [2] * 5 + [3] * 2 + [0]
    assert made["position_ids"].tolist() == [*range(12), *range(5), 0, 1, 0]
    assert made["label_weights"].tolist() == [1.0] * 19 + [0.0]


def test_causal_lm_of_a_full_row():
    """The last place is of the first document, as is what stands behind it on a ring."""
    made = make_row(CausalLM(), [LECTURE], length=12, max_documents=1)
    assert spoken(TOKENIZER, made["label_ids"]) == f"{LECTURE} [SEP]"


def test_prefix_lm_of_one_stack():
    made = make_row(PrefixLM(), [LECTURE, OTHER, "fun"])
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
    made = make_row(PrefixLM(arrangement="encoder_decoder"), [LECTURE, OTHER, "fun"])
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


def test_both_arrangements_split_alike():
    one, two = (make_row(PrefixLM(arrangement=each), [LECTURE]) for each in ("decoder", "encoder_decoder"))
    assert spoken(TOKENIZER, two["token_ids"]).removesuffix(" [SEP]") == spoken(
        TOKENIZER, one["token_ids"][(one["attention_order"] == 0) & (one["document_ids"] > 0)][1:]
    )


def test_splits_are_uniform_with_a_token_on_each_side():
    seeds = tf.stack([tf.zeros(3000, tf.int32), tf.range(3000)], axis=1)
    lengths = tf.constant([7, 2, 1, 0])
    drawn = tf.function(lambda: tf.map_fn(lambda seed: draw_prefixes(lengths, seed), seeds))().numpy()
    values, counts = np.unique(drawn[:, 0], return_counts=True)
    assert values.tolist() == [1, 2, 3, 4, 5, 6]
    np.testing.assert_allclose(counts, 500, atol=4 * np.sqrt(3000 * 5 / 36))
    assert np.unique(drawn[:, 1:], axis=0).tolist() == [[1, 1, 0]]


def test_bidirectional_lm():
    words = WordTokenizer(["<S>", "</S>", "<UNK>", "Thank", "you", "for", "me"], max_characters=6)
    sequences = Sequences(length=10, max_documents=2)
    objective = OBJECTIVES["bidirectional_lm"](BidirectionalLM(), sequences, words)
    text = words.split(["Thank you for inviting me"]).flat_values
    one = row(words.word_ids(text).numpy(), [3, 2], [1, 2], 8, 2)
    one["characters"] = np.zeros((8, 6), np.int32)
    one["characters"][:5] = words.characters(text)
    made = {name: value.numpy() for name, value in objective(one, None, seed=[0, 0]).items()}

    def shown(name, weights):
        tokens = [words.id_to_token(int(each)) for each in made[name]]
        return " ".join(token if used else "-" for token, used in zip(tokens, made[weights]))

    # `inviting` is not in the vocabulary: read by its characters, and predicted as <UNK>.
    assert shown("token_ids", "document_ids") == "<S> Thank you for </S> <S> <UNK> me </S> -"
    assert shown("label_ids", "label_weights") == "Thank you for </S> - <UNK> me </S> - -"
    assert shown("backward_label_ids", "backward_label_weights") == "- <S> Thank you for - <S> <UNK> me -"
    ends = [words.bos_characters, words.eos_characters]
    spelled = words.characters(text).numpy()
    np.testing.assert_array_equal(
        made["characters"],
        np.stack([ends[0], *spelled[:3], ends[1], ends[0], *spelled[3:], ends[1], np.zeros(6)]),
    )


def test_characters_stay_with_their_words():
    made = make("bidirectional")
    for index, (one, texts) in enumerate(made.each()):
        for number, text in enumerate(texts):
            mine = one["characters"][one["document_ids"] == number + 1]
            np.testing.assert_array_equal(mine[1:-1], (np.array(text)[:, None] * 7 + np.arange(6)))
            np.testing.assert_array_equal(mine[0], made.case.tokenizer.bos_characters)
            np.testing.assert_array_equal(mine[-1], made.case.tokenizer.eos_characters)
        assert not one["characters"][one["document_ids"] == 0].any(), index
