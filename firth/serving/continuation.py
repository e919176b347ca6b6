"""The signature `generate` of models that continue a text, as `firth.generation` does."""

import dataclasses
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from firth.generation.controls import Controls, neutral_controls
from firth.generation.framing import framing_of
from firth.generation.readers import reader_of
from firth.generation.samplers import sampled
from firth.generation.texts_in_graph import read_texts, written_texts
from firth.generation.writer import AT_END, Writer
from firth.recipes.base.types import descriptions
from firth.recipes.generation.request import GenerationRequest
from firth.recipes.generation.samplers import Sampling
from firth.recipes.run.run_recipe import RunRecipe
from firth.serving.parameter import Parameter
from firth.serving.served_model import Served
from firth.serving.signature import Reading, Signature, checked_parameter, written_answer, written_outputs

OUTPUTS = written_outputs(
    "generated",
    "what is written after the text",
    "the text was longer than there is room for and was cut",
    ", among those that may be written and before penalties and the sampler",
)


def _parameter(asked: Any, name: str, dtype: str, example: float, **said: float) -> Parameter:
    """Returns the parameter of a request's value, with the bounds and the default that its type states."""
    field = asked.model_fields[name]
    bounds: dict[str, Any] = {}
    for each in field.metadata:
        bounds |= dataclasses.asdict(each)
    least = bounds["ge"] if "ge" in bounds else bounds["gt"]
    # Only whole numbers lie below a bound.
    most = bounds["le"] if "le" in bounds else bounds["lt"] - 1
    default = said.get("default", field.default)
    return Parameter(dtype, default, example, least, most, "gt" in bounds, _meaning(asked, name))


def _meaning(asked: Any, name: str) -> str:
    """Returns the description of a field of the type, without papers."""
    said = re.sub(r" \([^)]*\)", "", descriptions(asked)[name]).rstrip(".")
    return said[0].lower() + said[1:]


_TOP_K = f"{_meaning(Sampling, 'top_k').partition(';')[0]}; 0 for all"
# By name, as a request of `firth.generation` has them. Without any the likeliest token is taken.
PARAMETERS: dict[str, Parameter] = {
    "max_new_tokens": _parameter(GenerationRequest, "max_new_tokens", "int32", 3),
    "temperature": _parameter(Sampling, "temperature", "float32", 0.8, default=0.0),
    # 0 for all, where a request says null.
    "top_k": Parameter("int32", 0, 5, 0, 2**24, meaning=_TOP_K),
    "top_p": _parameter(Sampling, "top_p", "float32", 0.9),
    "min_p": _parameter(Sampling, "min_p", "float32", 0.01),
    "typical_p": _parameter(Sampling, "typical_p", "float32", 0.9),
    "repetition_penalty": _parameter(GenerationRequest, "repetition_penalty", "float32", 1.2),
    "presence_penalty": _parameter(GenerationRequest, "presence_penalty", "float32", 0.1),
    "frequency_penalty": _parameter(GenerationRequest, "frequency_penalty", "float32", 0.1),
    "no_repeat_ngram_size": _parameter(GenerationRequest, "no_repeat_ngram_size", "int32", 3),
    "min_new_tokens": _parameter(GenerationRequest, "min_new_tokens", "int32", 1),
    "seed": _parameter(GenerationRequest, "seed", "int64", 7),
}


def offer(recipe: RunRecipe) -> Signature | None:
    """Returns the signature, if the recipe's model writes after a text and is not asked in another way."""
    goal: Any = recipe.goal
    asked_with: str = getattr(goal, "signature", "")
    if not goal.text_end or asked_with:
        return None
    # A written text follows from many choices, and each of them may be a close one.
    return Signature(
        write_on,
        OUTPUTS,
        "Writes after a text.",
        {"text": "text to continue"},
        {"text": "A sentence"},
        answer=written_answer("generated"),
        reads_heads=True,
        parameters=PARAMETERS,
    )


def write_on(
    served: Served,
    text: tf.Tensor,
    *values: tf.Tensor,
    decoder: Callable[[Writer], Any] = lambda writer: writer,
) -> dict[str, tf.Tensor]:
    """Returns the continuation of each text.

    Args:
        text: Texts, string [batch].
        *values: Values of `PARAMETERS` for each text, [batch] each, in their order.
        decoder: Function from the writer to the decoder, which may rule tokens out.

    Raises (when run):
        tf.errors.InvalidArgumentError: for a value that is not valid, naming the parameter.
    """
    asked = check_values(values)
    framing = framing_of(served.recipe, served.tokenizer)
    read = read_texts(framing, text, asked["max_new_tokens"])
    most = tf.maximum(tf.minimum(asked["max_new_tokens"], read.room), 1)
    controls = controls_of_values(asked)._replace(most=most)
    # The maximum over an empty batch is the smallest integer.
    room = tf.maximum(tf.reduce_max(most), 1)
    reader = reader_of(served.model, served.tokenizer, framing.start)
    writer = decoder(Writer(reader, framing.end_id, framing.may_write, sampled))
    writing, _ = writer.start(read.prompts, controls, room)
    found = writer.texts(writer.go_on(writing, controls, room))
    is_finished = found.ended == AT_END
    ids = tf.RaggedTensor.from_tensor(found.ids, lengths=found.count - tf.cast(is_finished, tf.int32))
    return {
        "generated": written_texts(framing, read.own, ids),
        "log_probability": tf.reduce_sum(found.log_probabilities, axis=1),
        "is_finished": is_finished,
        **Reading(read.own.row_lengths(), read.given).outputs,
    }


def check_values(values: Sequence[tf.Tensor]) -> dict[str, tf.Tensor]:
    """Returns the values of all parameters by name.

    Args:
        values: Values of `PARAMETERS` for each text, [batch] each, in their order.

    Raises (when run):
        tf.errors.InvalidArgumentError: for a value that is not valid, naming the parameter.
    """
    return {
        name: checked_parameter(name, each, value)
        for (name, each), value in zip(PARAMETERS.items(), values, strict=True)
    }


def controls_of_values(asked: Mapping[str, tf.Tensor]) -> Controls:
    """Returns the controls of texts that are asked for with parameters."""
    own = {name: each for name, each in asked.items() if name in Controls._fields}
    seeds, most = tf.bitcast(asked["seed"], tf.int32), asked["max_new_tokens"]
    return neutral_controls(tf.shape(most)[0], 1)._replace(most=most, seeds=seeds, **own)
