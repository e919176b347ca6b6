"""What a generator writes equals what the model finds when it reads each text whole, for every family."""

import numpy as np
import pytest
import tensorflow as tf

from firth import features as names
from tests.generation.cases import PROMPTS, WRITING, generator_of

# One of each reader; what is left repeats them.
CHOSEN = ("causal_lm", "prefix_lm", "denoising", "bidirectional_lm")
families = pytest.mark.parametrize(
    "name", [each if each in CHOSEN else pytest.param(each, marks=pytest.mark.repeated) for each in WRITING]
)


def logits_of(name, prompt, written):
    """The logits of each next token of a prompt and some tokens, with no cache, [places, vocabulary]."""
    generator = generator_of(name)
    model, framing = generator.model, generator.framing
    if framing.start:
        features = {**stack(prompt.ids), **decoder_stack([*framing.start, *written])}
    elif prompt.characters is not None:
        spelled = generator.tokenizer.characters(tf.constant(generator.tokenizer.get_vocabulary())).numpy()
        characters = np.concatenate([prompt.characters, spelled[np.array(written, int)]])
        features = {names.CHARACTERS: characters[None], names.DOCUMENT_IDS: np.ones((1, len(characters)))}
    else:
        order = np.maximum(np.arange(len(prompt.ids) + len(written)) + 1 - len(prompt.ids), 0)
        features = {**stack([*prompt.ids, *written]), names.ATTENTION_ORDER: order[None]}
    features = {key: tf.constant(value, tf.int32) for key, value in features.items()}
    logits = model.logits(features)["lm"][0].numpy()
    return logits[: len(prompt.ids) + len(written)] if prompt.characters is not None else logits


def stack(row, prefix=""):
    ids = np.array([row])
    made = {names.TOKEN_IDS: ids, names.POSITION_IDS: np.arange(len(row))[None]}
    return {f"{prefix}{key}": value for key, value in {**made, names.DOCUMENT_IDS: ids * 0 + 1}.items()}


def decoder_stack(row):
    return stack(row, "decoder_")


@families
def test_each_token_is_the_likeliest_when_all_is_read_at_once(name):
    """Prompts of several lengths share a batch; the log-probabilities are those of the tokens that may be."""
    generator = generator_of(name)
    found = generator.generate(PROMPTS, max_new_tokens=6, log_probabilities=True)
    ruled_out = np.where(generator.framing.may_write, 0.0, -np.inf)
    for prompt, one in zip(generator.framing.read(PROMPTS), found, strict=True):
        assert one.ended == ("end" if one.ids[-1] == generator.framing.end_id else "length")
        assert one.ended == "end" or len(one.ids) == 6
        for place, token in enumerate(one.ids):
            logits = logits_of(name, prompt, one.ids[:place])[-1] + ruled_out
            assert token == logits.argmax(), (one, place)
            log = logits[token] - np.logaddexp.reduce(logits)
            np.testing.assert_allclose(one.log_probabilities[place], log, atol=2e-5)
