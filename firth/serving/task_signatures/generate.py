"""The signature `generate`: the text that a model writes from another."""

import functools
from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from firth import features as names
from firth.recipes.run.run_recipe import RunRecipe
from firth.serving.served_model import Served
from firth.serving.signature import Signature, written_answer, written_outputs
from firth.serving.task_signatures.text_answers import inputs_of_texts, write

OUTPUTS = written_outputs(
    "generated", "what is written", "the texts were longer than there is room for and were cut"
)
_TASK = "task"
_TEXT = {"text": "A sentence."}
_INPUTS = {
    "text": "text to write from",
    "pair": "second text",
    _TASK: "name of the task that the text is of; empty for the average of all",
}


def offer(recipe: RunRecipe) -> Signature | None:
    """Returns the signature, if the recipe's task is to write a text."""
    goal: Any = recipe.goal
    if getattr(goal, "signature", "") != "generate":
        return None
    # A written text follows from many choices, and each of them may be a close one.
    meaning = "Writes the text that the task asks for, the likeliest token at each place."
    offered = functools.partial(
        Signature, outputs=OUTPUTS, meaning=meaning, answer=written_answer("generated"), reads_heads=True
    )
    inputs = {role: _INPUTS[role] for role in goal.roles}
    if recipe.trained_by.reads_task_numbers:
        tasks = tuple(goal.tasks_by_source)
        example = {**_TEXT, _TASK: tasks[0]}
        inputs = {**inputs, _TASK: _INPUTS[_TASK]}
        return offered(_of_task, inputs=inputs, example=example, choices={_TASK: tasks})
    example = {**_TEXT, "pair": "Another one."} if goal.pair else _TEXT
    return offered(_of_texts, inputs=inputs, example=example)


def _of_texts(served: Served, *texts: tf.Tensor) -> dict[str, tf.Tensor]:
    return generate(served, *texts)


def _of_task(served: Served, text: tf.Tensor, task: tf.Tensor) -> dict[str, tf.Tensor]:
    known = tuple(served.task.tasks_by_source)
    same = tf.equal(task[:, tf.newaxis], tf.constant(known)[tf.newaxis])
    is_none, is_known = tf.equal(task, ""), tf.reduce_any(same, axis=1)
    said = [f"task: there are {', '.join(known)}; unknown:", tf.boolean_mask(task, ~(is_none | is_known))]
    with tf.control_dependencies([tf.debugging.Assert(tf.reduce_all(is_none | is_known), said)]):
        numbers = tf.where(is_none, -1, tf.argmax(tf.cast(same, tf.int32), axis=1, output_type=tf.int32))
    return generate(served, text, facts={names.TASK_IDS: numbers[:, tf.newaxis]})


def generate(
    served: Served, *texts: tf.Tensor, facts: Mapping[str, tf.Tensor] | None = None
) -> dict[str, tf.Tensor]:
    """Returns the text that is written for each record, the likeliest token at each place.

    Args:
        *texts: The texts of the records, string [batch] each.
        facts: What else the model reads of each text, by name: tensors [batch, ...].
    """
    inputs = inputs_of_texts(served, *texts)
    generated, written = write(served, inputs.ids, facts)
    return {
        "generated": generated,
        "log_probability": written.log_probability,
        "is_finished": written.is_finished,
        **inputs.reading.outputs,
    }
