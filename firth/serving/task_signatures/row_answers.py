"""Answers to the records of rows by tasks whose model writes text, or finds texts probable."""

import functools
from collections.abc import Callable, Mapping
from typing import Any

import tensorflow as tf

from firth import features as names
from firth.constraints.validity import read_schema
from firth.serving.served_model import Served
from firth.serving.task_signatures.text_answers import (
    WrittenTexts,
    add_frame,
    asked_turns,
    label_log_probabilities,
    write,
    write_replies,
)
from firth.tokenizers.dialogue_prompts import turns_of_json

Tensors = dict[str, tf.Tensor]


def _written_of_rows(served: Served, inputs: tf.RaggedTensor, facts: Tensors) -> Tensors:
    texts, written = write(served, inputs, facts)
    answers = {names.RECORD_TEXTS: texts, names.RECORD_PREDICTIONS: written.log_probability}
    constrained = _under_schemas(served, inputs, facts)
    if constrained is not None:
        answers[names.RECORD_COMPLETE_TEXTS] = _complete(texts, written)
        answers[names.RECORD_CONSTRAINED_TEXTS] = constrained
    return answers


def _under_schemas(served: Served, inputs: tf.RaggedTensor, facts: Tensors) -> tf.Tensor | None:
    """Returns the texts under the schema of the task, or of each record's task; None without any."""
    own = read_schema(served.task.text_schema)
    if own is not None:
        return _complete(*write(served, inputs, facts, own))
    schemas = [read_schema(each.text_schema) for each in served.task.tasks_by_source.values()]
    if not any(each is not None for each in schemas):
        return None
    made = tf.fill([inputs.nrows(tf.int32)], "")
    for number, schema in enumerate(schemas):
        if schema is not None:
            places = tf.where(facts[names.TASK_IDS][:, 0] == number)
            made = tf.tensor_scatter_nd_update(
                made, places, _of_places(served, inputs, facts, schema, places[:, 0])
            )
    return made


def _of_places(
    served: Served, inputs: tf.RaggedTensor, facts: Tensors, schema: Any, places: tf.Tensor
) -> tf.Tensor:
    """Returns the texts of some records under a schema, string [places]."""

    def written() -> tf.Tensor:
        own = {name: tf.gather(each, places) for name, each in facts.items()}
        return _complete(*write(served, tf.gather(inputs, places), own, schema))

    return tf.cond(tf.size(places) > 0, written, lambda: tf.zeros([0], tf.string))


def _complete(texts: tf.Tensor, written: WrittenTexts) -> tf.Tensor:
    """Returns texts, of which those that the length cut are empty: a cut number may be a valid one."""
    return tf.where(written.is_finished, texts, "")


def _label_words_of_rows(served: Served, inputs: tf.RaggedTensor, facts: Tensors) -> Tensors:
    return {names.RECORD_PREDICTIONS: tf.nn.softmax(label_log_probabilities(served, inputs, facts))}


def _of_inputs(
    answers_of: Callable[[Served, tf.RaggedTensor, Tensors], Tensors],
    served: Served,
    rows: Mapping[str, tf.Tensor],
) -> Tensors:
    """Returns the answers to the inputs in some rows; the chunks of a record are an input and a target."""
    lengths = rows[names.CHUNK_LENGTHS][:, ::2]
    answers = answers_of(served, _inputs_of_rows(served, rows), _facts_of_rows(rows))
    labels = {name: rows[name] for name in (names.RECORD_LABELS,) if name in rows}
    return {
        names.RECORD_KEYS: rows[names.DOCUMENT_KEYS][:, ::2],
        names.RECORD_WEIGHTS: tf.cast(lengths > 0, tf.float32),
        names.RECORD_LENGTHS: lengths,
        **labels,
        **_in_places(lengths > 0, answers),
    }


def _replies_of_rows(served: Served, rows: Mapping[str, Any]) -> Tensors:
    """Returns the last reply of each dialogue, written freely and under the schema; nothing without one.

    The model reads the turns before it as the signature `reply_turns` does. A row may leave less room.
    """
    schema = read_schema(served.task.text_schema)
    if schema is None:
        return {}
    turns, real = turns_of_json(rows[names.RECORD_DETAILS].flat_values), rows[names.CHUNK_LENGTHS] > 0
    asked = asked_turns(served, turns.messages, turns.system)
    own = {
        names.RECORD_COMPLETE_TEXTS: _complete(*write_replies(served, asked.ids)),
        names.RECORD_CONSTRAINED_TEXTS: _complete(*write_replies(served, asked.ids, schema)),
    }
    # A row of a warm-up request has no turns.
    has_turns = rows[names.RECORD_DETAILS].row_lengths() > 0
    return _in_places(real & has_turns[:, tf.newaxis], own)


# From rows to what scores read of each record, [batch, max_documents, ...], by a task's `answered_by`.
ROW_ANSWERS: dict[str, Callable[[Served, Mapping[str, Any]], Tensors]] = {
    "writing": functools.partial(_of_inputs, _written_of_rows),
    "label_words": functools.partial(_of_inputs, _label_words_of_rows),
    "replies": _replies_of_rows,
}


def answer_rows(served: Served, rows: Mapping[str, Any]) -> Tensors:
    """Returns the answers that scores are computed from, for the records of some rows.

    Dialogues have only the two texts of a schema.

    Args:
        rows: Fields of the rows, [batch, ...], and the details of their records, ragged string [batch,
            (records)].

    Returns:
        record_keys: int64 [batch, max_documents].
        record_weights: float32 [batch, max_documents], 0 where there is no record.
        record_lengths: int32 [batch, max_documents], tokens of the input.
        record_texts: string [batch, max_documents], what was written; not of `label_words`.
        record_complete_texts, record_constrained_texts: string [batch, max_documents], what was written
            freely and under the task's schema, empty if the length cut it; of tasks with a schema alone.
        record_predictions: float32 [batch, max_documents], log probability of what was written; of
            `label_words` the probabilities of the classes, [batch, max_documents, classes].
    """
    return ROW_ANSWERS[served.task.answered_by](served, rows)


def _in_places(real: tf.Tensor, answers: Tensors) -> Tensors:
    """Returns the answers to records in the places of these, [batch, max_documents, ...].

    The n-th record of all rows has the n-th answer; places without a record get zeros.
    """
    number = tf.reshape(tf.cumsum(tf.cast(tf.reshape(real, [-1]), tf.int32), exclusive=True), tf.shape(real))
    places = tf.where(real, number, tf.reduce_sum(tf.cast(real, tf.int32)))
    return {name: tf.gather(_with_one_more(each), places) for name, each in answers.items()}


def _inputs_of_rows(served: Served, rows: Mapping[str, tf.Tensor]) -> tf.RaggedTensor:
    tokens, lengths = rows[names.RAW_TOKENS], rows[names.CHUNK_LENGTHS]
    inside = tf.sequence_mask(tf.reduce_sum(lengths, axis=1), tf.shape(tokens)[1])
    chunks = tf.RaggedTensor.from_row_lengths(tf.boolean_mask(tokens, inside), tf.reshape(lengths, [-1]))
    places = tf.where(tf.reshape(lengths[:, ::2], [-1]) > 0)[:, 0] * 2
    form = served.task.form
    return add_frame(served, tf.gather(chunks, places), form.before, form.after)


def _facts_of_rows(rows: Mapping[str, tf.Tensor]) -> Tensors:
    """Returns the further inputs of each record next to its tokens, as the loss of the same rows has them."""
    places = tf.where(tf.reshape(rows[names.CHUNK_LENGTHS][:, ::2], [-1]) > 0)[:, 0]
    known = {name: tf.reshape(rows[name], [-1]) for name in (names.TASK_IDS,) if name in rows}
    return {name: tf.gather(each, places)[:, tf.newaxis] for name, each in known.items()}


def _with_one_more(values: tf.Tensor) -> tf.Tensor:
    empty = tf.zeros_like(values[:0])
    return tf.concat([values, tf.zeros(tf.concat([[1], tf.shape(empty)[1:]], 0), values.dtype)], 0)
