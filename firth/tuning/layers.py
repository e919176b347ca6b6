"""Methods that train some layers, or layers at different rates, and the groups of weights that they train."""

from collections.abc import Iterable

import keras

from firth.models.additions.addition_places import TuningError, require_fit
from firth.models.backbone_with_heads import BackboneWithHeads
from firth.recipes.tuning.methods import Discriminative, Full, GradualUnfreezing, Head, LastLayers
from firth.tuning.rate_multipliers import Multipliers, StartsAt

Weights = list[keras.Variable]


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


def groups_of(model: BackboneWithHeads) -> list[Weights]:
    """Returns the trainable weights from the outputs to the inputs: heads, each layer, embeddings.

    A head that reads a weight of the backbone, as a projection tied to the token table, has no other weight:
    the table is one of the embeddings. A group may be empty.
    """
    backbone = model.backbone
    stages: list[Weights] = [[] for _ in backbone.stages]
    for weight in backbone.trainable_weights:
        path = weight.path.removeprefix(f"{backbone.path}/")
        found = [
            number
            for number, stage in enumerate(backbone.stages)
            if any(path == prefix or path.startswith(f"{prefix}/") for prefix in stage)
        ]
        if not found:
            raise TuningError(f"{weight.path}: no stage of {type(backbone).__name__} has this weight")
        stages[found[0]].append(weight)
    of_backbone = {id(weight) for weight in backbone.weights}
    heads = [weight for weight in model.trainable_weights if id(weight) not in of_backbone]
    return [heads, *reversed(stages)]


def freeze_base(model: BackboneWithHeads) -> None:
    """Freezes the weights of the base: the backbone, and heads other than the task's."""
    freeze([model.backbone.trainable_weights, model.heads.of_base])


def freeze(groups: Iterable[Weights]) -> None:
    """Freezes weights: no gradient is computed for them, and nothing decays them."""
    for weights in groups:
        for weight in weights:
            weight.trainable = False
