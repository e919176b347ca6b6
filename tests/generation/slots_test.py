"""Masks of slots, and slots that join; what they write is in `tests/serving/slots`."""

import numpy as np
import pytest
import tensorflow as tf

from firth.generation.controls import mask_bits, mask_words
from firth.generation.framing import PromptFraming
from firth.generation.slots import SlotWriter
from tests.generation.cases import generator_of


def test_a_mask_has_a_bit_for_each_token():
    """As `numpy.packbits` packs them, the lowest bit first."""
    for vocabulary in (1, 31, 32, 33, 70):
        may_come = np.random.default_rng(vocabulary).random((3, vocabulary)) < 0.5
        bits = np.pad(may_come, [(0, 0), (0, 32 * mask_words(vocabulary) - vocabulary)])
        words = np.packbits(bits, axis=1, bitorder="little").view("<i4")
        assert words.shape == (3, mask_words(vocabulary))
        assert mask_bits(tf.constant(words), vocabulary).numpy().tolist() == may_come.tolist()


def test_prompts_are_padded_to_a_few_lengths():
    generator = generator_of("causal_lm")
    sizes = {14: [14], 32: [32], 33: [32, 33], 600: [32, 128, 512, 600]}
    for length, expected in sizes.items():
        recipe = generator.recipe
        changed = recipe.model_copy(
            update={"sequences": recipe.sequences.model_copy(update={"length": length})}
        )
        assert SlotWriter(generator.reader, PromptFraming(changed, generator.tokenizer)).lengths() == expected


def test_a_model_that_keeps_one_state_has_no_slots():
    generator = generator_of("bidirectional_lm")
    with pytest.raises(ValueError, match="slots"):
        SlotWriter(generator.reader, generator.framing)
