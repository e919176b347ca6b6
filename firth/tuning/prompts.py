"""What is trained of a model with prefixes or prompts."""

from firth.models.additions.addition_kinds import extend
from firth.models.backbone_with_heads import BackboneWithHeads
from firth.recipes.tuning.prompts import PromptMethod
from firth.tuning.groups import freeze_base
from firth.tuning.rate_multipliers import Multipliers


def prepare_prompts(model: BackboneWithHeads, method: PromptMethod, steps_per_epoch: int) -> Multipliers:
    """Trains what stands before the tokens, and the heads of the task; what is the base's is frozen.

    Raises:
        TuningError: for a backbone that takes no virtual tokens.
    """
    extend(model, method)
    freeze_base(model)
    return {}
