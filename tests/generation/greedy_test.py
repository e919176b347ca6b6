"""What is written greedily equals what the model finds likeliest when it reads each text whole."""

import numpy as np
import pytest
import tensorflow as tf

from firth import features as names
from firth.generation import DecoderReader, StackReader, write_greedily
from firth.models import PretrainingModel
from firth.recipes.objectives.denoising import SpanCorruption
from firth.recipes.objectives.language_models import PrefixLM
from tests.models.table import MODELS, VOCABULARY

END, START, MOST = 3, (0, 2), 6
INPUTS = [[5, 7, 9, 4], [11], [8, 6]]
ALLOWED = np.arange(VOCABULARY) >= END


def model_of(name):
    objective = PrefixLM() if MODELS[name].architecture == "decoder" else SpanCorruption()
    made = PretrainingModel(
        model=MODELS[name].model_dump(), objective=objective.model_dump(), vocabulary_size=VOCABULARY, seed=7
    )
    made.build()
    return made


def writer(name):
    model = model_of(name)

    @tf.function(autograph=False, input_signature=[tf.RaggedTensorSpec([None, None], tf.int32)])
    def write(inputs):
        if MODELS[name].architecture == "decoder":
            reader = StackReader(model, inputs, MOST, 0)
        else:
            reader = DecoderReader(model, inputs, START, MOST, 0)
        return write_greedily(reader, MOST, END, ALLOWED)

    return model, write


def read_whole(name, model, given, tokens):
    """The log probabilities of what comes after a text, and after each of some tokens."""
    if MODELS[name].architecture == "decoder":
        order = [0] * len(given) + list(range(len(given), len(given) + len(tokens)))
        features = {**stack([*given, *tokens]), names.ATTENTION_ORDER: tf.constant([order])}
    else:
        decoder = {f"decoder_{key}": value for key, value in stack([*START, *tokens]).items()}
        features = {**stack(given), **decoder}
    logits = model.heads.project(model.backbone, model.backbone(features)[0, -1 - len(tokens) :])
    return tf.nn.log_softmax(tf.where(ALLOWED, logits, -np.inf)).numpy()


def stack(row):
    ones = tf.ones([1, len(row)], tf.int32)
    return {
        names.TOKEN_IDS: tf.constant([row], tf.int32),
        names.POSITION_IDS: tf.range(len(row))[tf.newaxis],
        names.DOCUMENT_IDS: ones,
    }


# An encoder with a decoder is compared with transformers too, in `task_heads_texts_parity_test.py`.
@pytest.mark.parametrize(
    "name", ["prefix lm", *(pytest.param(each, marks=pytest.mark.repeated) for each in ("llama", "bart"))]
)
def test_each_token_is_the_likeliest_when_all_is_read_at_once(name):
    """Inputs of several lengths, written in one batch with a cache; and after no input no text."""
    model, write = writer(name)
    found = write(tf.ragged.constant(INPUTS, tf.int32))
    for place, given in enumerate(INPUTS):
        tokens, ended = found.ids[place].numpy().tolist(), bool(found.is_finished[place])
        assert ended == (len(tokens) < MOST)
        shares = read_whole(name, model, given, tokens)[: len(tokens) + ended]
        assert shares.argmax(axis=1).tolist() == tokens + [END] * ended
        np.testing.assert_allclose(found.log_probability[place], shares.max(axis=1).sum(), rtol=1e-4)
    nothing = write(tf.RaggedTensor.from_row_lengths(tf.zeros([0], tf.int32), tf.zeros([0], tf.int64)))
    assert nothing.ids.nrows() == 0 and nothing.log_probability.shape == (0,)
