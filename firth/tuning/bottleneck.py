"""What is trained of a model with bottleneck adapters."""

from firth.models.additions.addition_kinds import extend
from firth.models.additions.bottleneck import norms_of
from firth.models.backbone_with_heads import BackboneWithHeads
from firth.recipes.tuning.bottleneck import BottleneckMethod
from firth.tuning.groups import freeze_base
from firth.tuning.rate_multipliers import Multipliers


def prepare_bottleneck(
    model: BackboneWithHeads, method: BottleneckMethod, steps_per_epoch: int
) -> Multipliers:
    """Trains the adapters, the norms if the method asks for them, and the heads of the task.

    Raises:
        TuningError: for a backbone without blocks.
    """
    extend(model, method)
    freeze_base(model)
    for norm in norms_of(model, method) if method.norms else ():
        for weight in norm.weights:
            weight.trainable = True
    return {}
