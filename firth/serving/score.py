"""The signature `score`: the probability of a text, alone or after another one."""

import functools
from typing import Any, NamedTuple

import tensorflow as tf

from firth import features as names
from firth.recipes.run.run_recipe import RunRecipe
from firth.serving.encoding import repeat_ids
from firth.serving.evaluate import in_chunks
from firth.serving.served_model import Served
from firth.serving.signature import Answer, Output, Reading, Signature, reading
from firth.tasks.windows import read_windows, stride_of

# Rows of which the probabilities of all pieces are held at a time.
_ROWS = 4

_OF_TOKENS = ("batch", "tokens")
OUTPUTS = {
    "pieces": Output(
        "pieces that are scored; empty after the last one. The first piece of a text is not one of them if "
        "the model reads texts without a special piece in front",
        "string",
        _OF_TOKENS,
    ),
    "log_probabilities": Output(
        "natural logarithm of each one's probability after all before it; zeros after", shape=_OF_TOKENS
    ),
    "log_probability": Output("their sum; the end of the text is not scored"),
    "token_count": Output("number of pieces that are scored", "int32"),
    **reading("the end of the text was not read"),
}
_TARGET_OUTPUTS = {**OUTPUTS, **reading("the text or the target had no room and was cut")}
ANSWER = Answer(
    {name: name for name in ("log_probability", "pieces", "log_probabilities")},
    count="token_count",
    lines=(
        "{{ '%.3f' % log_probability }} nats:{% for piece in pieces %}{{ ' ' if loop.first else '  ' }}"
        "{{ piece }} {{ '%.2f' % log_probabilities[loop.index0] }}{% endfor %}"
    ),
)

_INPUTS = {"text": "text to score, or that a target follows", "target": "text that is scored after it"}
_EXAMPLE = {"text": "A sentence", "target": "and its end."}


def offer(recipe: RunRecipe) -> Signature | None:
    """Returns the signature, if the recipe's model scores texts, or the targets that follow them."""
    inputs = recipe.goal.score_inputs
    if not inputs:
        return None
    told = {name: _INPUTS[name] for name in inputs}
    if "target" in inputs:
        meaning, example = "Tells how probable a target is after a text.", _EXAMPLE
        return Signature(
            score_target, _TARGET_OUTPUTS, meaning, told, example, answer=ANSWER, reads_heads=True
        )
    meaning, example = "Tells how probable a text is.", {"text": "A sentence."}
    return Signature(score, OUTPUTS, meaning, told, example, answer=ANSWER, reads_heads=True)


class _Row(NamedTuple):
    """Special tokens and text that a decoder is given, and the text that it is asked about."""

    given: tf.RaggedTensor | tf.Tensor
    asked: tf.RaggedTensor


def score(served: Served, text: tf.Tensor) -> dict[str, tf.Tensor]:
    """Scores texts under a causal LM.

    A text that is longer than a row is read in windows: each token is scored once, after a quarter of a row
    of what is before it, or more.

    Args:
        text: Texts, string [batch].
    """
    whole = tf.cast(served.tokenizer.tokenize(text), tf.int32)
    room = served.row_length - len(served.ids_before_text)
    stride, lengths = stride_of(room), tf.cast(whole.row_lengths(), tf.int32)
    windows, read = read_windows(lengths, room, stride)
    # The tokens that a window shares with the one before it are scored there.
    # Where no special piece is in front, nothing predicts the first one.
    first = int(not served.ids_before_text)
    known = tf.minimum(tf.where(windows.starts > 0, room - stride, first), windows.lengths)
    rows = windows.of(whole).to_tensor(-1, shape=[None, room])
    # As many places at a time as a few rows have: each has a probability for every piece of the vocabulary.
    size = tf.maximum(_ROWS * room // tf.maximum(tf.reduce_max(windows.lengths), 1), 1)
    found = in_chunks(
        functools.partial(_of_windows, served), tf.concat([known[:, tf.newaxis], rows], axis=1), size
    )["log_probabilities"]
    places = tf.range(room)[tf.newaxis]
    is_own = (places >= known[:, tf.newaxis]) & (places < windows.lengths[:, tf.newaxis])
    scored = tf.cast(tf.maximum(read - first, 0), tf.int64)
    own = tf.RaggedTensor.from_row_lengths(tf.boolean_mask(found, is_own), scored)
    return _outputs(served, _cut(whole, read)[:, first:], own.to_tensor(0.0), Reading(read, lengths))


def _of_windows(served: Served, rows: tf.Tensor) -> dict[str, tf.Tensor]:
    """Returns the log probabilities of tokens of windows, float32 [windows, room], zeros for known ones."""
    known, room = rows[:, 0], rows.shape[1] - 1
    tokens = tf.RaggedTensor.from_tensor(rows[:, 1:], padding=-1)
    given = tf.concat(
        [repeat_ids(served.ids_before_text, tokens.nrows(tf.int32)), _cut(tokens, known)], axis=1
    )
    is_asked = _places(tokens) >= tf.gather(known, tokens.value_rowids())
    asked = tf.ragged.boolean_mask(tokens, tokens.with_flat_values(is_asked))
    features = _stack_features(_Row(given, asked), served.tokenizer.pad_id)
    # What is known is read as text, and not as a prefix.
    places, first = features[names.POSITION_IDS], len(served.ids_before_text)
    features[names.ATTENTION_ORDER] = tf.where(places < first, 0, places)
    losses = served.model(features, training=False)[served.recipe.goal.main_loss].losses
    # Each place predicts the token after it.
    found = tf.pad(-losses * features[names.LABEL_WEIGHTS], [[0, 0], [1, 0]])
    own = found[:, first : first + room]
    wide = tf.pad(own, [[0, 0], [0, room - tf.shape(own)[1]]])
    return {"log_probabilities": tf.ensure_shape(wide, [None, room])}


def score_target(served: Served, text: tf.Tensor, target: tf.Tensor) -> dict[str, tf.Tensor]:
    """Scores targets that follow a text, or are written from it, under an encoder-decoder or a prefix LM.

    Args:
        text: Texts that the model is given, string [batch].
        target: Targets that are scored, string [batch]. Both may hold sentinels, such as `<extra_id_0>`, if
            the recipe's `tokenizer.special_texts` names them.
    """
    if served.recipe.model.has_decoder:
        return _score_decoded(served, text, target)
    sequences = served.recipe.sequences
    tokenizer, length = served.tokenizer, served.recipe.goal.input_length(sequences)
    whole_text, whole_target = tokenizer.tokenize(text), tokenizer.tokenize(target)
    # At least one token is asked about, so that its place is left free.
    kept = whole_text[:, : served.row_length - 2]
    before, after = (
        repeat_ids(served.ids_before_text, kept.nrows(tf.int32)),
        repeat_ids(served.ids_after_text, kept.nrows(tf.int32)),
    )
    given = tf.concat([before, kept, after], axis=1)
    asked = _cut(whole_target, length - tf.cast(given.row_lengths(), tf.int32))
    features = _stack_features(_Row(given, asked), tokenizer.pad_id)
    amount = Reading.of(kept, whole_text) + Reading.of(asked, whole_target)
    return _answer(served, features, asked, amount)


def _score_decoded(served: Served, text: tf.Tensor, target: tf.Tensor) -> dict[str, tf.Tensor]:
    tokenizer, goal = served.tokenizer, served.recipe.goal
    encoded = served.encode(text)
    whole = tokenizer.tokenize(target)
    start = served.special_ids(goal.decoder_start)
    given = repeat_ids(start, whole.nrows(tf.int32))
    room = goal.target_length(served.recipe.sequences) - len(start)
    asked = whole[:, :room]
    row = _stack_features(_Row(given, asked), tokenizer.pad_id)
    features = {
        **encoded.features,
        names.DECODER_TOKEN_IDS: row[names.TOKEN_IDS],
        names.DECODER_POSITION_IDS: row[names.POSITION_IDS],
        names.DECODER_DOCUMENT_IDS: row[names.DOCUMENT_IDS],
        names.LABEL_IDS: row[names.LABEL_IDS],
        names.LABEL_WEIGHTS: row[names.LABEL_WEIGHTS],
    }
    return _answer(served, features, asked, encoded.reading + Reading.of(asked, whole))


def _cut(ids: tf.RaggedTensor, lengths: tf.Tensor) -> tf.RaggedTensor:
    """Returns the first tokens of each row, as many as `lengths` (int32 [batch]) says."""
    inside = _places(ids) < tf.gather(lengths, ids.value_rowids())
    return tf.ragged.boolean_mask(ids, ids.with_flat_values(inside))


def _places(ids: tf.RaggedTensor) -> tf.Tensor:
    """Returns the place of each token in its row, int32 [tokens].

    Flat: an operator on ragged tensors broadcasts their shapes, which is slow to trace.
    """
    return tf.cast(tf.ragged.range(ids.row_lengths()).flat_values, tf.int32)


def _stack_features(row: _Row, pad_id: int) -> dict[str, tf.Tensor]:
    """Returns the features of one stack, in which each token predicts the next one."""
    rows = tf.concat([tf.cast(row.given, tf.int32), row.asked], axis=1)
    if not isinstance(rows, tf.RaggedTensor):
        rows = tf.RaggedTensor.from_tensor(rows)
    lengths = tf.cast(rows.row_lengths(), tf.int32)[:, tf.newaxis]
    asked = tf.cast(row.asked.row_lengths(), tf.int32)[:, tf.newaxis]
    longest = tf.maximum(tf.reduce_max(lengths), 1)
    places = tf.range(longest)[tf.newaxis]
    real = tf.cast(places < lengths, tf.int32)
    tokens = rows.to_tensor(pad_id, shape=tf.stack([-1, longest]))
    first = lengths - asked
    weights = (places >= first - 1) & (places < lengths - 1)
    labels = tf.concat([tokens[:, 1:], tf.fill([tf.shape(tokens)[0], 1], pad_id)], axis=1)
    return {
        names.TOKEN_IDS: tokens,
        names.POSITION_IDS: places * real,
        names.DOCUMENT_IDS: real,
        names.ATTENTION_ORDER: tf.where(places < first, 0, places) * real,
        names.LABEL_IDS: tf.where(weights, labels, 0),
        names.LABEL_WEIGHTS: tf.cast(weights, tf.float32),
    }


def _answer(
    served: Served, features: dict[str, Any], asked: tf.RaggedTensor, amount: Reading
) -> dict[str, Any]:
    losses = served.model(features, training=False)[served.recipe.goal.main_loss].losses
    found = tf.ragged.boolean_mask(-losses, features[names.LABEL_WEIGHTS] > 0).to_tensor(0.0)
    return _outputs(served, asked, found, amount)


def _outputs(
    served: Served, asked: tf.RaggedTensor, found: tf.Tensor, amount: Reading
) -> dict[str, tf.Tensor]:
    vocabulary = tf.constant(served.tokenizer.get_vocabulary())
    pieces = asked.with_flat_values(tf.gather(vocabulary, asked.flat_values)).to_tensor("")
    return {
        "pieces": pieces,
        "log_probabilities": found,
        "log_probability": tf.reduce_sum(found, axis=1),
        "token_count": tf.cast(asked.row_lengths(), tf.int32),
        **amount.outputs,
    }
