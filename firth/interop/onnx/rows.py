"""What graphs read of rows: ids and a mask. Each row holds one document, with padding on either side."""

from typing import Any

from keras import ops

from firth import features as names
from firth.interop.onnx.graph import Axes, Port, Tensors

MASK = "attention_mask"
DECODER_MASK = "decoder_attention_mask"
_MASK = Port(("batch", "length"), "1 on tokens, 0 on padding.")


def row_inputs(config: Any) -> dict[str, Port]:
    """Returns the inputs of a model that reads whole rows.

    Args:
        config: Model of the recipe.
    """
    axes: Axes = ("batch", "length")
    if config.max_characters:
        words = Port((*axes, config.max_characters), "Characters of the words, as the tokenizer gives them.")
        return {names.CHARACTERS: words, MASK: _MASK}
    segments = {names.SEGMENT_IDS: Port(axes, "Segments of the tokens.")} if config.reads_segments else {}
    return {names.TOKEN_IDS: Port(axes, "Ids of the tokens."), **segments, MASK: _MASK}


def order_input(config: Any, length: str) -> dict[str, Port]:
    """Returns the input of the order in which a decoder's tokens see each other, if it reads one.

    Args:
        config: Model of the recipe, a decoder's.
        length: Name of the axis of the tokens.
    """
    if not config.bidirectional_prefix:
        return {}
    meaning = "A token sees those whose order is not above its own: zeros on the prefix, 1, 2, ... after it."
    return {names.ATTENTION_ORDER: Port(("batch", length), meaning)}


def row_features(given: Tensors) -> Tensors:
    """Returns the features of whole rows.

    Args:
        given: Tensors by the names of inputs.
    """
    mask = given[MASK]
    rest = {name: value for name, value in given.items() if name != MASK}
    return {**rest, names.DOCUMENT_IDS: mask, names.POSITION_IDS: positions(mask)}


def positions(mask: Any) -> Any:
    """Returns the places of tokens among those of their row, which padding before them does not move.

    Args:
        mask: int32 [batch, length], 1 on tokens and 0 on padding.

    Returns:
        int32 [batch, length], 0 on padding.
    """
    return (ops.cumsum(mask, axis=1) - 1) * mask
