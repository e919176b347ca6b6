"""The signature `generate`: the text that a model writes from another."""

from typing import Any

import tensorflow as tf

from firth.recipes.run.run_recipe import RunRecipe
from firth.serving.served import Served
from firth.serving.signature import Answer, Signature
from firth.serving.tasks.written import inputs_of_texts, write

_ANSWER = Answer(
    {name: name for name in ("generated", "log_probability", "is_finished")},
    lines="{{ generated }}{{ '' if is_finished else ' ...' }}",
)
_TEXT = {"text": "A sentence."}


def offer(recipe: RunRecipe) -> Signature | None:
    """Returns the signature, if the recipe's task is to write a text.

    Args:
        recipe: Recipe of the model.
    """
    goal: Any = recipe.goal
    if getattr(goal, "signature", "") != "generate":
        return None
    function, example = (_of_two, {**_TEXT, "pair": "Another one."}) if goal.pair else (_of_one, _TEXT)
    # A written text follows from many choices, and each of them may be a close one.
    return Signature(function, ("truncated",), goal.roles, example, answer=_ANSWER, reads_heads=True)


def _of_one(served: Served, text: tf.Tensor) -> dict[str, tf.Tensor]:
    return generate(served, text)


def _of_two(served: Served, text: tf.Tensor, pair: tf.Tensor) -> dict[str, tf.Tensor]:
    return generate(served, text, pair)


def generate(served: Served, *texts: tf.Tensor) -> dict[str, tf.Tensor]:
    """Returns the text that is written for each record, the likeliest token at each place.

    Args:
        served: Model and tokenizer.
        *texts: The texts of the records, string [batch] each.

    Returns:
        generated: string [batch].
        log_probability: float32 [batch], of its tokens and its end.
        is_finished: bool [batch], False if it has no end within the most tokens.
        truncated: bool [batch], whether the texts were cut.
    """
    inputs = inputs_of_texts(served, *texts)
    generated, written = write(served, inputs.ids)
    return {
        "generated": generated,
        "log_probability": written.log_probability,
        "is_finished": written.is_finished,
        "truncated": inputs.truncated,
    }
