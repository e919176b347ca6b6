"""Inputs of the encoder and targets for given noise: the lectures' sentence."""

import numpy as np
import pytest
import tensorflow as tf

from firth.objectives import OBJECTIVES
from firth.objectives.transforms.documents import ordinary_table, read_text
from firth.objectives.transforms.spans import Noise, read_noise, sentinel_inputs, sentinel_targets
from firth.recipes.objectives.denoising import IidDenoising, SpanCorruption
from firth.recipes.tokenizers.tokenizer import Sequences
from tests.objectives.rows import row
from tests.objectives.words import LECTURE, documents, spoken, word_row, word_tokenizer

TOKENIZER = word_tokenizer(LECTURE)
CORRUPTED = ("for", "inviting", "last")


def corrupt(texts, corrupted, length=40, closing_sentinel=False):
    """Inputs and targets of each document, as text, with the words of `corrupted` being noise."""
    text = read_text(word_row(TOKENIZER, texts, 30, 4), ordinary_table(TOKENIZER))
    ids = [TOKENIZER.token_to_id(word) for word in corrupted]
    noise = read_noise(text, np.isin(text.tokens, ids))
    arguments = (TOKENIZER.sentinel_ids, TOKENIZER.sep_id, length)
    inputs = sentinel_inputs(text, noise, *arguments)
    targets = sentinel_targets(text, noise, *arguments, closing_sentinel)
    return tuple(
        [spoken(TOKENIZER, ids) for ids in np.split(part.ids.numpy(), np.cumsum(part.lengths))[: len(texts)]]
        for part in (inputs, targets)
    )


def test_the_lectures_sentence():
    """Raffel et al., figure 2; `<X>`, `<Y>` and `<Z>` are the sentinels 0, 1 and 2."""
    inputs, targets = corrupt([LECTURE], CORRUPTED)
    assert inputs == ["Thank you <0> me to your party <1> week . [SEP]"]
    assert targets == ["<0> for inviting <1> last [SEP]"]
    assert corrupt([LECTURE], CORRUPTED, closing_sentinel=True)[1] == ["<0> for inviting <1> last <2>"]


def test_each_document_has_its_own_sentinels_and_its_own_end():
    inputs, targets = corrupt([LECTURE, "last week", "to your party", "party last"], CORRUPTED)
    assert inputs[1:] == ["<0> week [SEP]", "to your party [SEP]", "party <0> [SEP]"]
    assert targets[1:] == ["<0> last [SEP]", "[SEP]", "<0> last [SEP]"]


def test_a_special_piece_in_a_span_is_kept_and_the_span_goes_on():
    inputs, targets = corrupt(["Thank for [MASK] inviting [MASK] you last"], CORRUPTED)
    assert inputs == ["Thank <0> [MASK] [MASK] you <1> [SEP]"]
    assert targets == ["<0> for inviting <1> last [SEP]"]


def test_noise_at_the_end_of_one_document_and_the_beginning_of_the_next_is_two_spans():
    text = read_text(word_row(TOKENIZER, ["you last", "for you"], 9, 3), ordinary_table(TOKENIZER))
    noise = read_noise(text, np.isin(np.arange(9), [1, 2]))
    assert np.flatnonzero(noise.is_start).tolist() == [1, 2]


def test_what_does_not_fit_is_cut_off():
    assert corrupt([LECTURE], CORRUPTED, length=5)[0] == ["Thank you <0> me to"]


@pytest.mark.parametrize("architecture", ["encoder_decoder", "decoder"])
@pytest.mark.parametrize("config", [SpanCorruption, IidDenoising])
def test_the_whole_objective_on_the_lectures_sentence(monkeypatch, config, architecture):
    """With the paper's noise instead of random noise, next to a second document without any."""
    config = config(architecture=architecture)
    objective = OBJECTIVES[config.kind](config, Sequences(length=18, max_documents=3), TOKENIZER)
    ids = [TOKENIZER.token_to_id(word) for word in CORRUPTED]

    def choose_noise(row, text, seed) -> Noise:
        return read_noise(text, np.isin(text.tokens, ids))

    monkeypatch.setattr(objective, "choose_noise", choose_noise)
    made = objective(word_row(TOKENIZER, [LECTURE, "your party"], objective.raw_length, 3), None, [0, 0])
    made = {name: value.numpy() for name, value in made.items()}
    shown = documents(TOKENIZER, made["token_ids"], made["document_ids"])
    sees, predicts = "Thank you <0> me to your party <1> week . [SEP]", "<0> for inviting <1> last [SEP]"
    weighted = spoken(TOKENIZER, made["label_ids"][made["label_weights"] > 0])
    assert weighted == predicts
    assert not made["label_ids"][made["label_weights"] == 0].any()
    if architecture == "encoder_decoder":
        assert shown == [sees, "your party [SEP]"]
        read = documents(TOKENIZER, made["decoder_token_ids"], made["decoder_document_ids"])
        assert read == ["<0> for inviting <1> last", ""]
        assert made["decoder_position_ids"][:9].tolist() == [0, 1, 2, 3, 4, 5, 0, 0, 0]
        assert made["decoder_document_ids"][:9].tolist() == [1, 1, 1, 1, 1, 1, 2, 0, 0]
    else:
        assert shown == [f"{sees} <0> for inviting <1> last", "your party [SEP]"]
        assert made["attention_order"][:19].tolist() == [0] * 11 + [11, 12, 13, 14, 15] + [0, 0, 0]
        assert np.flatnonzero(made["label_weights"]).tolist() == [10, 11, 12, 13, 14, 15]
        assert made["position_ids"][:20].tolist() == [*range(16), 0, 1, 2, 0]


def test_a_full_document_fills_inputs_and_targets_exactly():
    """568 raw tokens, inputs of 512, targets of 114 (Raffel et al.), whatever is drawn."""
    tokenizer = word_tokenizer(LECTURE, sentinels=28)
    objective = OBJECTIVES["span_corruption"](
        SpanCorruption(), Sequences(length=512, max_documents=1), tokenizer
    )
    assert objective.raw_length == 568
    words = np.resize(tokenizer.tokenize(LECTURE).numpy(), 568)
    long = row(words, [568], [1], 568, 1)
    make = tf.function(objective, autograph=False)
    for seed in range(20):
        made = make(long, None, tf.constant([1, seed]))
        assert made["document_ids"].shape == (512,)
        assert made["label_ids"].shape == (114,)
        assert made["document_ids"].numpy().all()
        assert made["label_weights"].numpy().all()
        assert made["token_ids"].numpy()[-1] == made["label_ids"].numpy()[-1] == tokenizer.sep_id


def test_too_few_sentinels_are_refused():
    with pytest.raises(ValueError, match=r"span_corruption .*28 .* 9"):
        OBJECTIVES["span_corruption"](SpanCorruption(), Sequences(length=512), TOKENIZER)
