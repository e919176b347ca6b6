"""LoRA: products of two small matrices added to projections."""

import math

from firth.models.additions.low_rank import LowRankAddition, low_rank_targets
from firth.models.backbone_with_heads import BackboneWithHeads
from firth.recipes.tuning.adding import LoRA
from firth.tuning.additions import add_low_ranks
from firth.tuning.rate_multipliers import Multipliers


def prepare_lora(model: BackboneWithHeads, method: LoRA, steps_per_epoch: int) -> Multipliers:
    """Adds two small matrices to each projection that is a target, and freezes the backbone.

    Raises:
        TuningError: as `low_rank_targets` does.
    """
    divisor = math.sqrt(method.rank) if method.rank_stabilised else method.rank
    places = low_rank_targets(model.backbone, method.targets, method.rank, dropout=method.dropout)
    scale = method.alpha / divisor
    add_low_ranks(model, method, places, LowRankAddition, method.rank, scale, method.dropout)
    return {}
