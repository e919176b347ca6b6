"""What DeBERTa's enhanced mask decoder adds to heads that predict masked tokens."""

from typing import Any

from firth import features as names
from firth.layers import Embedding
from firth.layers.elements.checks import check_positions
from firth.models.heads import Features
from firth.recipes.objectives.masking import EnhancedMaskDecoder


def build_mask_positions(decoder: EnhancedMaskDecoder | None, width: int, **start: Any) -> Embedding | None:
    """Returns the table of absolute positions of a mask decoder, or None without one.

    He et al. 2020, "DeBERTa", section 3.2.

    Example:

    >>> build_mask_positions(EnhancedMaskDecoder(length=8, passes=2), width=4).rows
    8
    """
    if decoder is None:
        return None
    return Embedding(decoder.length, width, name="mask_positions", **start)


def decoding(
    decoder: EnhancedMaskDecoder | None, mask_positions: Embedding | None, features: Features
) -> dict[str, Any]:
    """Returns the arguments with which a stack decodes masked tokens, none without a decoder.

    Args:
        features: A batch's features, of which `position_ids`, int32 [batch, length], are read.

    Raises:
        ValueError: for positions beyond the table, where their values are known.
    """
    if decoder is None or mask_positions is None:
        return {}
    positions = features[names.POSITION_IDS]
    check_positions("Mask decoder", positions, **{"mask_decoder.length": decoder.length})
    return {"absolute": mask_positions(positions), "passes": decoder.passes}
