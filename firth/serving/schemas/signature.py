"""The signatures `generate_NAME`, whose texts are valid by a schema of `export.schemas`."""

import dataclasses
import functools
from typing import Any

import tensorflow as tf

from firth.constraints.compiling import schema_automaton
from firth.constraints.token_automaton import TokenAutomaton
from firth.constraints.token_bytes import TokenBytes
from firth.constraints.validity import read_schema
from firth.generation.automaton_writer import AutomatonWriter
from firth.generation.framing import framing_of
from firth.recipes.run.run_recipe import RunRecipe
from firth.serving import continuation
from firth.serving.served_model import Served
from firth.serving.signature import Signature


def offer_schemas(recipe: RunRecipe) -> dict[str, Signature]:
    """Returns the signatures of a recipe's schemas by name.

    Raises:
        ValueError: for schemas of a model that does not continue texts.
    """
    if not recipe.export.schemas:
        return {}
    plain = continuation.offer(recipe)
    if plain is None:
        raise ValueError(
            "export.schemas: the model does not continue a text, so that none is held to a schema"
        )
    # A valid text may be long, so that half a row is for it.
    most = max(int(plain.parameters["max_new_tokens"].default), recipe.sequences.length // 2)
    longer = dataclasses.replace(plain.parameters["max_new_tokens"], default=most, example=most)
    return {
        f"generate_{name}": dataclasses.replace(
            plain,
            function=functools.partial(write_valid, name),
            meaning=f"Writes JSON after a text that is valid by the schema {name}.",
            parameters={**plain.parameters, "max_new_tokens": longer},
        )
        for name in recipe.export.schemas
    }


def write_valid(name: str, served: Served, text: tf.Tensor, *values: tf.Tensor) -> dict[str, tf.Tensor]:
    """Returns JSON after each text that is valid by a schema.

    Tokens are taken so that the text ends within those that are asked for; it is finished unless the prompt
    leaves less room than any valid text takes.

    Args:
        name: Name of the schema.
        text: Texts, string [batch].
        *values: Values of `firth.serving.continuation.PARAMETERS` for each text, [batch] each.

    Raises (when run):
        tf.errors.InvalidArgumentError: for a value that is not valid, naming the parameter, and for fewer
            tokens than any valid text has.
    """
    automaton = automaton_of(served, name)
    least = automaton.least_tokens
    asked = values[list(continuation.PARAMETERS).index("max_new_tokens")]
    enough = tf.debugging.Assert(
        tf.reduce_all(asked >= least),
        [f"max_new_tokens: a text that is valid by {name} has at least {least}"],
    )
    with tf.control_dependencies([enough]):
        found = continuation.write_on(
            served, tf.identity(text), *values, decoder=lambda writer: AutomatonWriter(writer, automaton)
        )
    # Pieces carry a space, which is no part of the JSON.
    return {**found, "generated": tf.strings.regex_replace(found["generated"], r"\A ", "")}


def read_schemas(recipe: RunRecipe) -> dict[str, Any]:
    """Returns the schemas of a recipe by name.

    Raises:
        ConstraintError: for a file that cannot be read or holds no JSON.
    """
    return {name: read_schema(each) for name, each in recipe.export.schemas.items()}


def automaton_of(served: Served, name: str) -> TokenAutomaton:
    """Returns the automaton of a schema, over the tokens of a model.

    Raises:
        ConstraintError: for a schema that is not supported, with the JSON Pointer of the part, and for one
            that the vocabulary cannot write.
    """
    framing = framing_of(served.recipe, served.tokenizer)
    tokens = TokenBytes.of(served.tokenizer, framing.may_write, framing.end_id)
    return schema_automaton(read_schemas(served.recipe)[name], tokens)
