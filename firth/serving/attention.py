"""The signature `attention`: the attention probabilities of a head over a text."""

from typing import Any

import tensorflow as tf

from firth import features as names
from firth.layers.attention.kept_probabilities import keep_probabilities
from firth.recipes.run.run_recipe import RunRecipe
from firth.serving.parameter import Parameter
from firth.serving.served_model import Served
from firth.serving.signature import Answer, Output, Signature, checked_parameter, reading

NAME = "attention"
OUTPUTS = {
    "pieces": Output(
        "pieces of the row, special ones too; empty after its last one", "string", ("batch", "tokens")
    ),
    "attention": Output(
        "shares in which each piece, in its row, reads all pieces; zeros after",
        shape=("batch", "tokens", "tokens"),
    ),
    "token_count": Output("number of pieces", "int32"),
    **reading(),
}
_ANSWER = Answer(
    {"pieces": "pieces", "attention": "attention"},
    count="token_count",
    lines=(
        "{% for row in attention %}{{ pieces[loop.index0] }} reads {{ pieces[row.index(row | max)] }} "
        "{{ '%.3f' % (row | max) }}\n{% endfor %}"
    ),
)


def offer(recipe: RunRecipe) -> Signature | None:
    """Returns the signature, if `export.attention` asks for it."""
    if not recipe.export.attention:
        return None
    return Signature(
        attention,
        OUTPUTS,
        "Gives the attention probabilities of a head of a layer over a text.",
        example={"text": "A sentence."},
        answer=_ANSWER,
        parameters=parameters(recipe),
    )


def parameters(recipe: RunRecipe) -> dict[str, Parameter]:
    """Returns the parameters `layer` and `head` of a recipe's model.

    Args:
        recipe: Recipe whose model has attention probabilities.
    """
    model: Any = recipe.model
    counts = {"layer": model.layers, "head": model.attention.heads}
    meanings = {
        "layer": "number of the layer, the first one 0",
        "head": "number of its head, the first one 0",
    }
    return {
        name: Parameter("int32", 0, count - 1, 0, count - 1, meaning=meanings[name])
        for name, count in counts.items()
    }


def attention(served: Served, text: tf.Tensor, layer: tf.Tensor, head: tf.Tensor) -> dict[str, tf.Tensor]:
    """Returns the attention probabilities of a head of each text.

    The text is read as `embed_tokens` reads it, and by a causal model from left to right. Of an
    encoder-decoder, the layers are the encoder's. Virtual tokens and prefixes of an adapted model have no
    pieces: where it has them, a row adds up to less than 1.

    Args:
        text: Texts, string [batch].
        layer: Number of a layer for each text, int32 [batch].
        head: Number of a head for each text, int32 [batch].

    Raises:
        ValueError: if the engine does not give the probabilities.
    """
    known = parameters(served.recipe)
    layer, head = (
        checked_parameter(name, known[name], each) for name, each in (("layer", layer), ("head", head))
    )
    encoded = served.encode(text)
    with keep_probabilities() as kept:
        served.encoder_states(encoded.features)
    if len(kept) != served.recipe.model.layers:
        raise ValueError(f"{NAME}: this engine gives no attention probabilities; engine: keras gives them")
    real = encoded.features[names.DOCUMENT_IDS]
    length = tf.shape(real)[1]
    of_layers = [tf.gather(each, head, axis=1, batch_dims=1)[:, -length:, -length:] for each in kept]
    chosen = tf.gather(tf.stack(of_layers, axis=1), layer, axis=1, batch_dims=1)
    is_real = tf.cast(real > 0, tf.float32)
    vocabulary = tf.constant(served.tokenizer.get_vocabulary())
    pieces = tf.gather(vocabulary, encoded.features[names.TOKEN_IDS])
    return {
        "pieces": tf.where(real > 0, pieces, ""),
        "attention": chosen * is_real[:, :, tf.newaxis] * is_real[:, tf.newaxis],
        "token_count": tf.reduce_sum(real, axis=1),
        **encoded.reading.outputs,
    }
