"""The data side of ELECTRA's objective with literal tokens."""

import numpy as np

from firth.recipes.objectives.masking import ReplacedTokenDetection
from tests.objectives.cases import make
from tests.objectives.words import LECTURE, made_of, spoken, word_tokenizer

MASK = 4
TOKENIZER = word_tokenizer(LECTURE)


def test_literal_example():
    """`you` is predicted, and stays."""
    config = ReplacedTokenDetection(mask_rate=0.35, max_predictions=5)
    made = made_of(TOKENIZER, config, [LECTURE], length=13, max_documents=1)
    shown = "[CLS] Thank you for inviting me [MASK] [MASK] [MASK] last week . [SEP]"
    assert spoken(TOKENIZER, made["token_ids"]) == shown
    assert spoken(TOKENIZER, made["masked_labels"]) == "you to your party"
    assert made["masked_positions"].tolist() == [2, 6, 7, 8, 0]
    assert made["masked_weights"].tolist() == [1.0, 1.0, 1.0, 1.0, 0.0]
    assert not made["segment_ids"].any()


def test_85_of_100_are_masked_and_the_others_stay():
    made = make("replaced").features
    used = made["masked_weights"] > 0
    shown = np.take_along_axis(made["token_ids"], made["masked_positions"], axis=1)[used]
    labels = made["masked_labels"][used]
    assert ((shown == MASK) | (shown == labels)).all()
    assert abs((shown == MASK).mean() - 0.85) < 4 * np.sqrt(0.85 * 0.15 / len(shown))
