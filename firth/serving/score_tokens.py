"""The signature `score_tokens`: the probability of each token of rows of ids, and the likeliest one there."""

import functools
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from firth import features as names
from firth.recipes.run.run_recipe import RunRecipe
from firth.serving.evaluate import in_chunks
from firth.serving.served_model import Served
from firth.serving.signature import Output, TensorSignature, check
from firth.serving.warmup import Request, TrialRequest

NAME = "score_tokens"
# Full rows of which the probabilities of all tokens are held at a time.
_ROWS = 4
_OF_TOKENS = ("batch", "tokens")
SIGNATURE = TensorSignature(
    "Tells how probable each token of a row is after those before it, and which would be the likeliest.",
    {
        "ids": Output("tokens with special ones, as the model reads them, padded", "int32", _OF_TOKENS),
        "length": Output("number of tokens; at most one more than a row has", "int32"),
    },
    {
        "log_probabilities": Output(
            "natural logarithm of each token's probability after those before it, as `score` gives it; 0 for "
            "the first token, which nothing predicts, and for padding",
            shape=_OF_TOKENS,
        ),
        "likeliest_ids": Output(
            "likeliest token at each place; 0 at the first one and for padding", "int32", _OF_TOKENS, False
        ),
        "likeliest_log_probabilities": Output(
            "natural logarithm of its probability, to the last bit that of a token which is the likeliest; 0 "
            "at the first place and for padding",
            shape=_OF_TOKENS,
        ),
    },
)


def is_offered(recipe: RunRecipe) -> bool:
    """Returns True if each token of a row is predicted from those before it, and from nothing else.

    A prefix LM and an encoder-decoder predict the tokens of a target alone, for which `score` has an input.
    """
    goal: Any = recipe.goal
    if recipe.trained_by.reads_task_numbers or getattr(recipe.model, "bidirectional_prefix", False):
        return False
    return goal.score_inputs == ("text",) or goal.prompted_with == "turns"


def score_tokens(served: Served, ids: tf.Tensor, length: tf.Tensor) -> dict[str, tf.Tensor]:
    """Scores rows of ids under a causal LM.

    Args:
        ids: Tokens with special ones, padded, int32 [batch, tokens].
        length: Number of tokens of each row, int32 [batch].

    Raises (when run):
        tf.errors.InvalidArgumentError: for a token that the vocabulary lacks, and for a row that is longer
            than those that the model was trained on, and a token that follows.
    """
    vocabulary, room = served.recipe.tokenizer.vocabulary_size, served.row_length
    batch, places = tf.unstack(tf.shape(ids))
    real = tf.sequence_mask(length, places)
    checks = [
        check((length >= 0) & (length <= places), "length: must be at least 0 and at most the size of ids"),
        check(length <= room + 1, f"length: must be at most {room + 1}, of which the last one is not read"),
        check(~real | ((ids >= 0) & (ids < vocabulary)), f"ids: must be at least 0 and below {vocabulary}"),
    ]
    with tf.control_dependencies(checks):
        # A row of two places even of nothing, so that an empty batch has an answer.
        longest, count = tf.maximum(tf.reduce_max(length), 2), tf.maximum(batch, 1)
    rows = tf.pad(tf.where(real, ids, -1), [[0, 1], [0, 2]], constant_values=-1)[:count, :longest]
    # As many places at a time as a few rows have: each has a probability for every token of the vocabulary.
    size = tf.maximum(_ROWS * room // longest, 1)
    found = in_chunks(functools.partial(_of_rows, served), rows, size)
    more = tf.maximum(places - room - 1, 0)
    return {name: tf.pad(found[name], [[0, 0], [0, more]])[:batch, :places] for name in SIGNATURE.outputs}


def _of_rows(served: Served, rows: tf.Tensor) -> dict[str, tf.Tensor]:
    """Returns the outputs for rows, [rows, row_length + 1] each.

    Args:
        rows: Tokens, -1 after them, int32 [rows, places].
    """
    # The last place predicts nothing.
    real, count = rows[:, :-1] >= 0, tf.shape(rows)[1] - 1
    places = tf.where(real, tf.range(count)[tf.newaxis], 0)
    features = {
        names.TOKEN_IDS: tf.where(real, rows[:, :-1], served.tokenizer.pad_id),
        names.POSITION_IDS: places,
        names.DOCUMENT_IDS: tf.cast(real, tf.int32),
        names.ATTENTION_ORDER: places,
    }
    logits = served.model.logits(features, training=False)[served.recipe.goal.main_loss]
    scores, following = tf.nn.log_softmax(logits), rows[:, 1:]
    # Both values are of one tensor: clients compare them for equality.
    found = (
        tf.gather(scores, tf.maximum(following, 0), batch_dims=2),
        tf.argmax(scores, axis=2, output_type=tf.int32),
        tf.reduce_max(scores, axis=2),
    )
    room = served.row_length

    def whole(values: tf.Tensor) -> tf.Tensor:
        own = tf.where(following >= 0, values, tf.zeros_like(values))
        return tf.ensure_shape(tf.pad(own, [[0, 0], [1, room - count]]), [None, room + 1])

    return dict(zip(SIGNATURE.outputs, map(whole, found)))


def requests(described: Mapping[str, Any]) -> Iterator[TrialRequest]:
    """Yields requests that try the signature, the one to warm a model up first.

    Args:
        described: The model's description.
    """
    longest, vocabulary = described["row_length"], described["recipe"]["tokenizer"]["vocabulary_size"]
    last = vocabulary - 1

    def request(name: str, *rows: list[int], refused: bool = False) -> TrialRequest:
        length = np.array([len(each) for each in rows], np.int32)
        ids = np.zeros([len(rows), max(length, default=0)], np.int32)
        for row, each in zip(ids, rows):
            row[: len(each)] = each
        return TrialRequest(name, Request(NAME, {"ids": ids, "length": length}), refused)

    yield request("one", [last, 0, last])
    yield request("many", [last] * (longest + 1), [last], [], [last, 0, 0])
    yield request("empty batch")
    yield request("no such token", [last, vocabulary], refused=True)
    yield request("a row that is too long", [last] * (longest + 2), refused=True)
