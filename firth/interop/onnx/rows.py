"""What graphs read of rows: ids and a mask. Each row holds one document, with padding on either side."""

from typing import Any

from keras import ops

from firth import features as names
from firth.interop.onnx.graph import Axes, Port, Tensors

MASK = "attention_mask"
DECODER_MASK = "decoder_attention_mask"
_MASK = Port(("batch", "length"), "1 on tokens, 0 on padding.")


def row_inputs(config: Any) -> dict[str, Port]:
    """Returns the inputs of a model that reads whole rows."""
    axes: Axes = ("batch", "length")
    if config.max_characters:
        words = Port((*axes, config.max_characters), "Characters of the words, as the tokenizer gives them.")
        return {names.CHARACTERS: words, MASK: _MASK}
    segments = {names.SEGMENT_IDS: Port(axes, "Segments of the tokens.")} if config.reads_segments else {}
    return {names.TOKEN_IDS: Port(axes, "Ids of the tokens."), **segments, MASK: _MASK}


def order_input(length: str) -> dict[str, Port]:
    """Returns the input of the order that says which tokens see each other."""
    meaning = "A token sees those of its row whose order is not above its own; zeros let all see each other."
    return {names.ATTENTION_ORDER: Port(("batch", length), meaning)}


def row_features(given: Tensors) -> Tensors:
    """Returns the features of whole rows."""
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
