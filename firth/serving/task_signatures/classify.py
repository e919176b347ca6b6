"""The signatures `classify`, `classify_pair`, `regress` and `regress_pair`: the answer to one text or two."""

import tensorflow as tf

from firth.serving.evaluate import in_chunks
from firth.serving.served_model import Served
from firth.serving.signature import Answer, Output, Reading, Signature, reading
from firth.serving.task_signatures.records import encode_pieces, encode_texts
from firth.serving.task_signatures.text_answers import (
    inputs_of_texts,
    label_log_probabilities,
    numbers_of_texts,
    write,
)
from firth.tasks.windows import read_windows, stride_of

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
    windows, read = read_windows(lengths, room, stride_of(room))

    def of_rows(rows: tf.Tensor) -> dict[str, tf.Tensor]:
        pieces = tf.RaggedTensor.from_tensor(rows, padding=-1)
        (logits,) = served.model.logits(encode_pieces(served, pieces), training=False).values()
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
# Inputs and their examples of one text, and of two.
_ONE = ("a text", {"text": "text to ask about"}, {"text": "A sentence."})
_TWO = ("two texts", {**_ONE[1], "pair": "second text"}, {**_ONE[2], "pair": "Another one."})
_FACTS = {
    "classify": (classify, CLASSES, "Tells the class of {}.", _CLASSES),
    "regress": (regress, NUMBERS, "Gives the number of {}.", _NUMBERS),
}
SIGNATURES = {
    f"{name}{ending}": Signature(
        function, outputs, meaning.format(what), inputs, example, answer=answer, reads_heads=True
    )
    for ending, (what, inputs, example) in (("", _ONE), ("_pair", _TWO))
    for name, (function, outputs, meaning, answer) in _FACTS.items()
}
