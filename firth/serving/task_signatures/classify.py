"""The signatures `classify`, `classify_pair`, `regress` and `regress_pair`: the answer to one text or two."""

from collections.abc import Callable, Mapping
from typing import Any

import tensorflow as tf

from firth.recipes.run.run_recipe import RunRecipe
from firth.serving.evaluate import in_chunks
from firth.serving.served_model import Served
from firth.serving.signature import Answer, Output, Reading, Signature, reading
from firth.serving.task_signatures.records import encode_texts, features_of_pieces
from firth.serving.task_signatures.text_answers import (
    inputs_of_texts,
    label_log_probabilities,
    numbers_of_texts,
    write,
)
from firth.tasks.windows import read_lengths, stride_of, windows_of

_OF_CLASSES = ("batch", "classes")
_READING = reading("the texts were longer than the row and were cut")
CLASSES = {
    "label": Output("the likeliest class", "string", is_invariant=False),
    "probability": Output("its probability"),
    "labels": Output("names of all classes", "string", _OF_CLASSES, is_invariant=False),
    "probabilities": Output("their probabilities", shape=_OF_CLASSES),
    **_READING,
}
NUMBERS = {"value": Output("the number"), **_READING}
_CLASSES = Answer(
    {"label": "label", "probability": "probability", "labels": "labels", "probabilities": "probabilities"},
    lines="{{ label }} {{ '%.4f' % probability }}",
)
_NUMBERS = Answer({"value": "value"}, lines="{{ '%.4f' % value }}")
_TEXT = {"text": "A sentence."}
_PAIR = {**_TEXT, "pair": "Another one."}


def offering(name: str) -> Callable[[RunRecipe], Signature | None]:
    """Returns the function that offers a signature to the recipes whose task it asks."""

    def offer(recipe: RunRecipe) -> Signature | None:
        return _OFFERED[name] if getattr(recipe.goal, "signature", "") == name else None

    return offer


def classify(served: Served, *texts: tf.Tensor) -> dict[str, tf.Tensor]:
    """Returns the likeliest class of each record, and the probabilities of all.

    Args:
        *texts: The texts of the records, string [batch] each.
    """
    logits, read = _logits(served, texts)
    probabilities, labels = tf.nn.softmax(logits), tf.constant(served.task.labels)
    return {
        "label": tf.gather(labels, tf.argmax(logits, axis=-1)),
        "probability": tf.reduce_max(probabilities, axis=-1),
        "labels": tf.tile(labels[tf.newaxis], [tf.shape(logits)[0], 1]),
        "probabilities": probabilities,
        **read.outputs,
    }


def regress(served: Served, *texts: tf.Tensor) -> dict[str, tf.Tensor]:
    """Returns the number of each record.

    Args:
        *texts: The texts of the records, string [batch] each.
    """
    logits, read = _logits(served, texts)
    return {"value": logits[:, 0], **read.outputs}


def _logits(served: Served, texts: tuple[tf.Tensor, ...]) -> tuple[tf.Tensor, Reading]:
    return _LOGITS[served.task.answered_by](served, texts)


def _of_heads(served: Served, texts: tuple[tf.Tensor, ...]) -> tuple[tf.Tensor, Reading]:
    if served.recipe.export.long_texts == "windows":
        return _of_windows(served, *texts)
    encoded = encode_texts(served, *texts)
    (logits,) = served.model.logits(encoded.features, training=False).values()
    return logits[:, 0], encoded.reading


def _of_windows(served: Served, text: tf.Tensor) -> tuple[tf.Tensor, Reading]:
    """Returns the means of the logits of all windows of each text."""
    whole, room = served.tokenizer.tokenize(text), served.row_length - served.task.form.special_tokens(1)
    lengths = tf.cast(whole.row_lengths(), tf.int32)
    rooms, stride = tf.fill(tf.shape(lengths), room), stride_of(room)
    read = read_lengths(lengths, rooms, stride)
    windows = windows_of(read, rooms, stride)

    def of_rows(rows: tf.Tensor) -> dict[str, tf.Tensor]:
        pieces = tf.RaggedTensor.from_tensor(rows, padding=-1)
        (logits,) = served.model.logits(features_of_pieces(served, pieces), training=False).values()
        return {"logits": logits[:, 0]}

    rows = tf.cast(windows.of(whole).to_tensor(-1, shape=[None, room]), tf.int32)
    found = in_chunks(of_rows, rows, served.recipe.evaluation.batch_size)["logits"]
    means = tf.math.unsorted_segment_mean(found, windows.owners, tf.size(lengths))
    return means, Reading(read, lengths)


def _of_label_words(served: Served, texts: tuple[tf.Tensor, ...]) -> tuple[tf.Tensor, Reading]:
    inputs = inputs_of_texts(served, *texts)
    return label_log_probabilities(served, inputs.ids), inputs.reading


def _of_written_numbers(served: Served, texts: tuple[tf.Tensor, ...]) -> tuple[tf.Tensor, Reading]:
    inputs = inputs_of_texts(served, *texts)
    written, _ = write(served, inputs.ids)
    return numbers_of_texts(written, served.task.unreadable)[:, tf.newaxis], inputs.reading


# By a task's `answered_by`.
_LOGITS = {"heads": _of_heads, "label_words": _of_label_words, "writing": _of_written_numbers}
_ONE = {"text": "text to ask about"}
_TWO = {**_ONE, "pair": "second text"}
_ANSWERS = {
    "classify": (classify, CLASSES, "Tells the class of {}.", _CLASSES),
    "regress": (regress, NUMBERS, "Gives the number of {}.", _NUMBERS),
}


def _of_one(function: Any, outputs: Mapping[str, Output], meaning: str, answer: Answer) -> Signature:
    def ask(served: Served, text: tf.Tensor) -> dict[str, tf.Tensor]:
        made: dict[str, tf.Tensor] = function(served, text)
        return made

    said = meaning.format("a text")
    return Signature(ask, outputs, said, _ONE, _TEXT, answer=answer, reads_heads=True)


def _of_two(function: Any, outputs: Mapping[str, Output], meaning: str, answer: Answer) -> Signature:
    def ask(served: Served, text: tf.Tensor, pair: tf.Tensor) -> dict[str, tf.Tensor]:
        made: dict[str, tf.Tensor] = function(served, text, pair)
        return made

    said = meaning.format("two texts")
    return Signature(ask, outputs, said, _TWO, _PAIR, answer=answer, reads_heads=True)


_OFFERED = {
    **{name: _of_one(*facts) for name, facts in _ANSWERS.items()},
    **{f"{name}_pair": _of_two(*facts) for name, facts in _ANSWERS.items()},
}
NAMES = tuple(_OFFERED)
