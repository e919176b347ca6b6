"""Methods that choose which layers are trained, and at which rate; they add nothing to the model."""

from firth.models.additions.addition_places import require_fit
from firth.models.backbone_with_heads import BackboneWithHeads
from firth.recipes.tuning.methods import Discriminative, Full, GradualUnfreezing, Head, LastLayers
from firth.tuning.groups import TuningError, freeze, groups_of
from firth.tuning.rate_multipliers import Multipliers, StartsAt


def prepare_full(model: BackboneWithHeads, method: Full, steps_per_epoch: int) -> Multipliers:
    """Trains all weights at one rate."""
    return {}


def prepare_head(model: BackboneWithHeads, method: Head, steps_per_epoch: int) -> Multipliers:
    """Freezes the backbone."""
    heads, *backbone = groups_of(model)
    if not heads:
        raise TuningError(
            f"method.kind: {method.kind}: the heads of this model have no weights of their own to train, as "
            "they read the token table; name last_layers, or another method"
        )
    freeze(backbone)
    return {}


def prepare_last_layers(model: BackboneWithHeads, method: LastLayers, steps_per_epoch: int) -> Multipliers:
    """Freezes the embeddings, and all layers but the last ones.

    Raises:
        TuningError: if the model has fewer layers.
    """
    require_fit(model, method)
    freeze(groups_of(model)[1 + method.layers :])
    return {}


def prepare_discriminative(
    model: BackboneWithHeads, method: Discriminative, steps_per_epoch: int
) -> Multipliers:
    """Trains each layer at a lower rate than the layer above it."""
    groups = list(filter(None, groups_of(model)))
    return {
        weight.path: method.decay**depth
        for depth, weights in enumerate(groups)
        for weight in weights
        if depth
    }


def prepare_gradual_unfreezing(
    model: BackboneWithHeads, method: GradualUnfreezing, steps_per_epoch: int
) -> Multipliers:
    """Trains the uppermost group first, and with each epoch one group more."""
    groups = list(filter(None, groups_of(model)))
    return {
        weight.path: StartsAt(epoch * steps_per_epoch)
        for epoch, weights in enumerate(groups)
        for weight in weights
        if epoch
    }
