"""The signature `choose`: which of the choices of a text is right."""

import tensorflow as tf

from firth import features as names
from firth.recipes.run.run_recipe import RunRecipe
from firth.serving.served_model import Served
from firth.serving.signature import Answer, Output, Reading, Signature, reading
from firth.serving.task_signatures.records import encode_pieces
from firth.tasks.inputs import fit_choices, room_of_choices

_ANSWER = Answer(
    {"choice": "choice", "place": "place", "probability": "probability", "probabilities": "probabilities"},
    count="choice_count",
    lines="{{ choice }} {{ '%.4f' % probability }}",
)
# Less than any number of a choice.
_NO_CHOICE = -1e9
_OF_CHOICES = ("batch", "choices")
OUTPUTS = {
    "choice": Output("the likeliest choice", "string", is_invariant=False),
    "place": Output("its place among the choices, from 0", "int32", is_invariant=False),
    "probability": Output("its probability"),
    "choices": Output("all choices; empty after the last one", "string", _OF_CHOICES, is_invariant=False),
    "probabilities": Output("their probabilities; zeros after", shape=_OF_CHOICES),
    "choice_count": Output("number of choices", "int32"),
    **reading("some text had no room and was cut"),
}
_INPUTS = {
    "text": "text to continue, or asked about",
    "question": "question about it",
    "choices": "the choices",
}
_TEXT = {"text": "The man broke his toe."}
_QUESTION = {"question": "What was the cause?"}
_CHOICES = {"choices": ("He dropped a hammer on it.", "He got a hole in his sock.")}


def offer(recipe: RunRecipe) -> Signature | None:
    """Returns the signature, if the recipe's task is to choose."""
    if getattr(recipe.goal, "signature", "") != "choose":
        return None
    asks = bool(getattr(recipe.goal, "question", False))
    example: dict[str, str | tuple[str, ...]] = {**_TEXT, **(_QUESTION if asks else {}), **_CHOICES}
    function = _with_question if asks else _without_question
    inputs, meaning = (
        {name: _INPUTS[name] for name in example},
        "Tells which of the choices of a text is right.",
    )
    return Signature(
        function,
        OUTPUTS,
        meaning,
        inputs,
        example,
        lists={"choices": " | "},
        answer=_ANSWER,
        reads_heads=True,
    )


def _with_question(
    served: Served, text: tf.Tensor, question: tf.Tensor, choices: tf.Tensor
) -> dict[str, tf.Tensor]:
    return choose(served, text, choices, question)


def _without_question(served: Served, text: tf.Tensor, choices: tf.Tensor) -> dict[str, tf.Tensor]:
    return choose(served, text, choices)


def choose(
    served: Served, text: tf.Tensor, choices: tf.Tensor, question: tf.Tensor | None = None
) -> dict[str, tf.Tensor]:
    """Returns the likeliest choice of each record, and the probabilities of all.

    Args:
        text: Contexts, string [batch].
        choices: The choices of each, string [batch, choices], with empty strings after the last one.
        question: Questions, string [batch], of a task with questions.
    """
    # No choice at all is one that is empty.
    counts = tf.maximum(tf.RaggedTensor.from_tensor(choices, padding="").row_lengths(), 1)
    texts = tf.RaggedTensor.from_tensor(tf.pad(choices, [[0, 0], [0, 1]]), lengths=counts)
    records = texts.value_rowids()
    specials = served.task.form.special_tokens(2)
    # More choices than a row holds in training have a token of each text all the same.
    room = tf.maximum(room_of_choices(served.row_length, specials, counts), 2)
    pieces = served.tokenizer.tokenize
    fitted = fit_choices(
        tf.gather(pieces(text), records),
        None if question is None else tf.gather(pieces(question), records),
        pieces(texts.flat_values),
        room,
    )
    # Each choice is a row of its own, and the softmax runs over those of its record here.
    features = encode_pieces(served, *fitted.texts)
    features[names.CHOICE_COUNTS] = tf.ones_like(features[names.POOLED_POSITIONS])
    (logits,) = served.model.logits(features, training=False).values()
    # The maximum over an empty batch is the smallest integer.
    most = tf.maximum(tf.reduce_max(counts), 1)
    of_records = texts.with_flat_values(logits[:, 0, 0]).to_tensor(_NO_CHOICE, shape=tf.stack([-1, most]))
    real = tf.sequence_mask(counts, most)
    probabilities = tf.where(real, tf.nn.softmax(of_records), 0.0)
    best = tf.argmax(of_records, axis=1, output_type=tf.int32)
    named = texts.to_tensor("", shape=tf.stack([-1, most]))
    read, given = (
        tf.reduce_sum(texts.with_flat_values(each), axis=1)
        for each in (fitted.kept, fitted.kept + fitted.cut)
    )
    return {
        "choice": tf.gather(named, best, batch_dims=1),
        "place": best,
        "probability": tf.gather(probabilities, best, batch_dims=1),
        "choices": named,
        "probabilities": probabilities,
        "choice_count": tf.cast(counts, tf.int32),
        **Reading(read, given).outputs,
    }
