"""What DeBERTa's enhanced mask decoder adds to heads that predict masked tokens."""

from firth import features as names
from firth.layers import Embedding
from firth.layers.elements.checks import check_positions


def build_mask_positions(decoder, width, **start):
    """Returns the table of absolute positions of a mask decoder, or None without one.

    He et al. 2020, "DeBERTa", section 3.2.

    Args:
        decoder: The objective's `mask_decoder`, as a dict, or None.
        width: Of the hidden states that are decoded.
        **start: Other arguments of `Embedding`.

    Example:

    >>> build_mask_positions({"length": 8, "passes": 2}, width=4).rows
    8
    """
    return decoder and Embedding(decoder["length"], width, name="mask_positions", **start)


def decoding(decoder, mask_positions, features) -> dict:
    """Returns the arguments with which a stack decodes masked tokens, none without a decoder.

    Args:
        decoder: As above.
        mask_positions: What `build_mask_positions` returned.
        features: Of a batch; `position_ids`, int32 [batch, length], are read.

    Raises:
        ValueError: for positions beyond the table, where their values are known.
    """
    if decoder is None:
        return {}
    positions = features[names.POSITION_IDS]
    check_positions("Mask decoder", positions, **{"mask_decoder.length": decoder["length"]})
    return {"absolute": mask_positions(positions), "passes": decoder["passes"]}
