"""The weights of a model in the groups in which methods train them."""

from collections.abc import Iterable

import keras

from firth.models.additions.addition_places import TuningError
from firth.models.backbone_with_heads import BackboneWithHeads

Weights = list[keras.Variable]


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
    """Freezes the weights that a model has from its base: the backbone, and heads other than the task's."""
    freeze([model.backbone.trainable_weights, model.heads.of_base])


def freeze(groups: Iterable[Weights]) -> None:
    """Keeps weights as they are: no gradient is computed for them, and nothing decays them."""
    for weights in groups:
        for weight in weights:
            weight.trainable = False
