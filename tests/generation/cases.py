"""Tiny models of the families that write, each with a tokenizer, and requests."""

import contextlib
import functools

import numpy as np
import tensorflow as tf
from tensorflow.python.autograph.core.ag_ctx import ControlStatusCtx, Status

from firth.generation import Generator
from firth.generation.generator import keras_generator
from firth.models import build_pretraining_model
from firth.recipes.generation.request import GenerationRequest
from firth.recipes.models.bilstm import BiLSTMConfig
from firth.recipes.tokenizers.tokenizer import Sequences, WordPieceTokenizerConfig, WordTokenizerConfig
from firth.tokenizers import WordPieceTokenizer, WordTokenizer
from tests.models.table import MODELS, OTHERS, TRAINED, tiny_recipe

WORDS = ["the", "fox", "jumps", "over", "lazy", "dog", "##s", "##ed", "cat", "runs", "a", "in", "!", ".", "é"]
PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS, "<extra_id_1>", "<extra_id_0>"]
SPOKEN = ["<S>", "</S>", "<UNK>", *(word for word in WORDS if "#" not in word)]
LENGTH = 14
# Families that write, by the objectives of `tests/models/table.py` that say so.
WRITING = [name for name, (_, objective) in TRAINED.items() if objective.text_end]
PROMPTS = ["the fox", "a cat jumps over the dog", "dogs"]


@contextlib.contextmanager
def eagerly():
    """Calls functions of graphs op by op: tracing costs many times as much as a few short texts."""
    tf.config.run_functions_eagerly(True)
    try:
        # Graphs of firth are not rewritten by AutoGraph either.
        with ControlStatusCtx(Status.DISABLED):
            yield
    finally:
        tf.config.run_functions_eagerly(False)


@functools.cache
def generator_of(name: str, layers: int = 1) -> Generator:
    """Returns the generator of a case of `TRAINED`, of random weights, with a number of layers."""
    kind, objective = TRAINED[name]
    model = (MODELS.get(kind) or OTHERS[kind]).model_copy(update={"layers": layers})
    reads_words = isinstance(model, BiLSTMConfig)
    pieces = SPOKEN if reads_words else PIECES
    config = WordTokenizerConfig if reads_words else WordPieceTokenizerConfig
    extra = {"max_characters": model.max_characters} if reads_words else {}
    sentinels = {} if reads_words else {"sentinels": 2, "lowercase": False}
    recipe = tiny_recipe(
        model,
        objective=objective,
        tokenizer=config(vocabulary_size=len(pieces), **extra, **sentinels),
        sequences=Sequences(length=LENGTH, max_documents=2),
    )
    made = build_pretraining_model(recipe)
    # Biases of zero and equal norms would hide a wrong order of rows.
    generator = np.random.default_rng(5)
    for weight in made.trainable_variables:
        weight.assign_add(generator.normal(0, 0.05, weight.shape).astype("float32"))
    tokenizer = WordTokenizer(pieces, **extra) if reads_words else WordPieceTokenizer(pieces, lowercase=False)
    return keras_generator(made, tokenizer, recipe)


class CountingReader:
    """A model's reader that counts its calls."""

    def __init__(self, reader):
        self._reader, self.calls = reader, 0

    def __getattr__(self, name):
        return getattr(self._reader, name)

    def read(self, tokens, rows):
        self.calls += 1
        return self._reader.read(tokens, rows)


# Values of the request of the n-th prompt, by the kind of its sampler.
OF_SAMPLERS = {
    "greedy": lambda number: {"repetition_penalty": 1.2, "no_repeat_ngram_size": 2, "min_new_tokens": 2},
    "sample": lambda number: {
        "temperature": 1.0 + number,
        "top_k": (None, 5, 9)[number],
        "top_p": (0.9, 1.0, 0.7)[number],
        "min_p": (0.0, 0.05, 0.0)[number],
        "typical_p": (1.0, 0.9, 1.0)[number],
        "presence_penalty": 0.5,
        "frequency_penalty": 0.25,
        "no_repeat_ngram_size": (0, 2, 1)[number],
        "min_new_tokens": number,
    },
}


def request_of(kind: str, number: int) -> GenerationRequest:
    """Returns the request of the n-th prompt by a kind of sampler."""
    own = OF_SAMPLERS.get(kind, lambda number: {"sampler": {"kind": kind}})(number)
    values = {"seed": 7 * number, "max_new_tokens": 6 - number, "log_probabilities": True, **own}
    return GenerationRequest.with_values({"sampler": {"kind": kind}, **values})
