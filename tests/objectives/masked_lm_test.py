import numpy as np
import pytest

from firth.objectives import MaskedLMObjective
from firth.recipes.objectives.masking import MaskedLM
from firth.recipes.tokenizers.tokenizer import Sequences
from tests.objectives.rows import empty_row, make_batch, random_rows, row, tokenizer

PAD, CLS, SEP, MASK = 0, 2, 3, 4


def test_literal_example():
    """Two documents in a row of 20; all is masked, and the second segments come from the negative row.

    The first chunk (10 11 12 13 14) is split before the sentence at 13, with a rest of two tokens, as (62 63)
    of the negative. The second chunk (20 21 22 23) is split before 22, not 21, as its other one has the rest
    (53 54). The rests lose a token.
    """
    config = MaskedLM(mask_rate=0.99, mask_token_rate=1.0, random_token_rate=0.0, random_next_rate=1.0)
    objective = MaskedLMObjective(config, Sequences(length=20, max_documents=3), tokenizer())
    tokens = [10, 11, 12, 13, 14, 20, 21, 22, 23]
    example = row(tokens, [5, 4], [1, 2], 17, 3, sentence_starts=[1, 0, 0, 1, 0, 1, 1, 1, 0])
    others = [50, 51, 52, 53, 54, 60, 61, 62, 63]
    negative = row(others, [5, 4], [3, 4], 17, 3, sentence_starts=[1, 0, 0, 1, 0, 1, 0, 1, 0])
    made = {name: value.numpy().tolist() for name, value in objective(example, negative, seed=[3, 4]).items()}
    assert made == {
        "token_ids": [
            *(CLS, MASK, MASK, MASK, SEP, MASK, SEP),
            *(CLS, MASK, MASK, SEP, MASK, SEP),
            *[PAD] * 7,
        ],
        "segment_ids": [0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 1, *[0] * 7],
        "position_ids": [0, 1, 2, 3, 4, 5, 6, 0, 1, 2, 3, 4, 5, *[0] * 7],
        "document_ids": [*[1] * 7, *[2] * 6, *[0] * 7],
        "masked_positions": [1, 2, 3, 5, 8, 9, 11, *[0] * 13],
        "masked_labels": [10, 11, 12, 62, 20, 21, 53, *[0] * 13],
        "masked_weights": [*[1.0] * 7, *[0.0] * 13],
        "pooled_positions": [0, 7, 0],
        "next_sentence_labels": [1, 1, 0],
        "next_sentence_weights": [1.0, 1.0, 0.0],
    }


def test_whole_words_are_hidden_whole_and_corrupted_piece_by_piece():
    """As in google-research/bert, each piece of a word draws for itself what becomes of it."""
    rates = MaskedLM(mask_rate=0.2, mask_token_rate=0.5, random_token_rate=0.0)
    config = rates.model_copy(update={"whole_word": True, "max_predictions": 4, "next_sentence": False})
    objective = MaskedLMObjective(config, Sequences(length=12, max_documents=1), tokenizer())
    count = 200
    word = row(range(10, 20), [10], [1], 10, 1, word_starts=[1, 0] * 5)
    rows = {name: np.stack([value] * count) for name, value in word.items()}
    nobody = {name: np.zeros_like(value) for name, value in rows.items()}
    made = make_batch(objective, rows, nobody, np.arange(2 * count).reshape(count, 2))
    positions = made["masked_positions"][:, :2]
    assert (made["masked_weights"].sum(axis=1) == 2).all()
    assert (positions[:, 0] % 2 == 1).all()
    np.testing.assert_array_equal(positions[:, 1], positions[:, 0] + 1)
    hidden = np.take_along_axis(made["token_ids"], positions, axis=1) == MASK
    assert 0.3 < (hidden[:, 0] != hidden[:, 1]).mean() < 0.7


def test_words_of_two_segments_are_two_words():
    """A chunk that is one word is split amid it; each side is hidden or shown on its own."""
    config = MaskedLM(whole_word=True, mask_rate=0.5, max_predictions=9)
    objective = MaskedLMObjective(config, Sequences(length=9, max_documents=1), tokenizer())
    example = row(range(10, 16), [6], [1], 6, 1, word_starts=[1, 0, 0, 0, 0, 0])
    made = objective(example, empty_row(6, 1), seed=[0, 0])
    assert made["masked_positions"].numpy()[:3].tolist() in ([1, 2, 3], [5, 6, 7])
    assert made["masked_weights"].numpy().sum() == 3


def test_ngrams_of_words_by_albert_s_rule():
    """At a low rate few runs touch one another: of one, two and three words in proportion to 1/n."""
    config = MaskedLM(next_sentence=False, max_ngram=3, mask_rate=0.04, max_predictions=20)
    objective = MaskedLMObjective(config, Sequences(length=402, max_documents=1), tokenizer())
    one = row(5 + np.arange(400) % 90, [400], [1], 400, 1, word_starts=[1, 0] * 200)
    rows = {name: np.stack([value] * 500) for name, value in one.items()}
    nobody = {name: np.zeros_like(value) for name, value in rows.items()}
    made = make_batch(objective, rows, nobody, np.arange(1000).reshape(500, 2))
    words = []
    for positions, weights in zip(made["masked_positions"], made["masked_weights"]):
        chosen = positions[weights > 0]
        runs = np.split(chosen, np.flatnonzero(np.diff(chosen) > 1) + 1)
        assert all(run[0] % 2 == 1 and len(run) % 2 == 0 for run in runs)
        words += [len(run) // 2 for run in runs]
    # The last run of a row may be cut, which makes a few more of one word.
    shares = np.bincount(words)[1:4] / len(words)
    np.testing.assert_allclose(shares, [6 / 11, 3 / 11, 2 / 11], atol=0.05)


@pytest.mark.repeated
def test_random_pieces_cover_all_that_can_be_drawn():
    pieces = 8
    for paper_exact, expected in ((False, set(range(5, 13))), (True, set(range(13)))):
        config = MaskedLM(
            mask_rate=0.9,
            mask_token_rate=0.0,
            random_token_rate=1.0,
            paper_exact=paper_exact,
            next_sentence=False,
        )
        objective = MaskedLMObjective(config, Sequences(length=40, max_documents=4), tokenizer(pieces))
        rows = random_rows(40, 40, 2, 4)
        rows["tokens"] = np.where(rows["tokens"] > 4, 5 + rows["tokens"] % pieces, rows["tokens"])
        nobody = {name: np.zeros_like(value) for name, value in rows.items()}
        made = make_batch(objective, rows, nobody, np.arange(80).reshape(40, 2))
        used = made["masked_weights"] > 0
        shown = np.take_along_axis(made["token_ids"], made["masked_positions"], axis=1)[used]
        assert set(shown.tolist()) == expected


def test_settings_that_cannot_work_are_refused():
    with pytest.raises(ValueError, match=r"max_predictions: 20 .*length: 16"):
        MaskedLMObjective(MaskedLM(), Sequences(length=16), tokenizer())
    with pytest.raises(ValueError, match="no piece to draw"):
        MaskedLMObjective(MaskedLM(), Sequences(length=32), tokenizer(0))
