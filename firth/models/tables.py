"""Which class builds which kind of backbone and head that a recipe may name."""

from firth.layers import MaskedLMHead
from firth.models.bert import BertBackbone

# By `recipe.model.kind`.
BACKBONES = {"bert": BertBackbone}

# By `recipe.objective.kind`.
HEADS = {"masked_lm": MaskedLMHead}
