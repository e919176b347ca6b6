"""Properties of every objective that predicts chosen tokens."""

import numpy as np
import pytest

from firth import features
from firth.objectives import OBJECTIVES
from tests.objectives.cases import CASES, CHOOSING, HIDING, SEP, SEQUENCES, make, of_each
from tests.objectives.recovery import restored
from tests.objectives.rows import tokenizer

MASK, SPECIALS = 4, range(5)


@pytest.fixture(params=of_each(CHOOSING))
def made(request):
    return make(request.param)


@pytest.fixture(params=of_each(HIDING))
def hidden(request):
    return make(request.param)


def test_positions_ascend_and_unused_ones_are_behind(made):
    positions, used = made.features[features.MASKED_POSITIONS], made.features[features.MASKED_WEIGHTS] > 0
    for chosen, is_used in zip(positions, used):
        assert (np.diff(chosen[is_used]) > 0).all()
        assert not chosen[~is_used].any()
        assert (np.diff(is_used.astype(int)) <= 0).all()


def test_special_tokens_and_padding_are_never_chosen(made):
    for one, _ in made.each():
        used = one[features.MASKED_WEIGHTS] > 0
        assert not np.isin(one[features.MASKED_LABELS][used], SPECIALS).any()
        assert (one[features.DOCUMENT_IDS][one[features.MASKED_POSITIONS][used]] > 0).all()


def test_number_of_predictions(made):
    config = made.config
    rate = getattr(config, "mask_rate", None) or config.predicted_fraction
    in_words = getattr(config, "whole_word", False) or getattr(config, "max_ngram", 1) > 1
    for one, _ in made.each():
        maskable = ~np.isin(restored(one), SPECIALS) & (one[features.DOCUMENT_IDS] > 0)
        count = int(maskable.sum())
        budget = min(max(1, round(rate * count)), config.max_predictions, count)
        predicted = one[features.MASKED_WEIGHTS].sum()
        if in_words or config.kind == "span_masking":
            assert predicted <= budget
        else:
            assert predicted == budget


def test_other_tokens_are_shown_as_they_are(hidden):
    for one, _ in hidden.each():
        original = restored(one)
        kept = np.ones(len(original), bool)
        kept[one[features.MASKED_POSITIONS][one[features.MASKED_WEIGHTS] > 0]] = False
        np.testing.assert_array_equal(one[features.TOKEN_IDS][kept], original[kept])


def test_special_pieces_are_drawn_only_if_paper_exact(hidden):
    shown = np.concatenate(
        [
            one[features.TOKEN_IDS][one[features.MASKED_POSITIONS][one[features.MASKED_WEIGHTS] > 0]]
            for one, _ in hidden.each()
        ]
    )
    sentinels = hidden.case.tokenizer.sentinel_ids
    assert np.isin(shown, [0, 1, 2, SEP, *sentinels]).any() == hidden.config.paper_exact


@pytest.mark.parametrize("name", sorted({CASES[name].config.kind: name for name in CHOOSING}.values()))
def test_more_predictions_than_places_are_refused(name):
    config = CASES[name].config.model_copy(update={"max_predictions": 41})
    with pytest.raises(ValueError, match=r"max_predictions: 41 .*length: 40"):
        OBJECTIVES[config.kind](config, SEQUENCES, tokenizer())
