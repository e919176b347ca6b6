"""The signatures of a model, and their inputs."""

from collections.abc import Callable
from typing import NamedTuple

import tensorflow as tf

from firth.recipes import Recipe
from firth.serving.embeddings import embed, embed_tokens
from firth.serving.fill_mask import fill_mask
from firth.serving.score import score, score_target

_FILL_MASK = ("masked_lm", "span_masking", "unilm")
_ENCODERS = ("masked_transformer", "two_stream_transformer", "encoder_decoder", "bilstm")


class Signature(NamedTuple):
    """A signature that reads strings.

    Attributes:
        function: Function of the served model and one string [batch] tensor for each input, to tensors by
            name.
        inputs: Names of the inputs.
    """

    function: Callable[..., dict[str, tf.Tensor]]
    inputs: tuple[str, ...] = ("text",)


def text_signatures(recipe: Recipe) -> dict[str, Signature]:
    """Returns the signatures of a recipe's model that read strings, the default one first.

    `fill_mask` where pieces are predicted in the place of `[MASK]`, `score` for language models (with a
    `target` where there is a prefix or an encoder), `embed` and `embed_tokens` for all encoders and biLMs.

    Args:
        recipe: Recipe of the model.
    """
    model, objective = recipe.model.kind, recipe.objective.kind
    found: dict[str, Signature] = {}
    if objective in _FILL_MASK:
        found["fill_mask"] = Signature(fill_mask)
    if objective == "causal_lm":
        found["score"] = Signature(score)
    elif model in ("causal_transformer", "encoder_decoder"):
        found["score"] = Signature(score_target, ("text", "target"))
    if model in _ENCODERS:
        found["embed"], found["embed_tokens"] = Signature(embed), Signature(embed_tokens)
    return found
