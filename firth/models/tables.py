"""Which class builds which kind of backbone and head that a recipe may name."""

from firth.models.causal_transformer import CausalTransformerBackbone
from firth.models.encoder_decoder import EncoderDecoderBackbone
from firth.models.masked_lm_heads import MaskedLMHeads
from firth.models.masked_transformer import MaskedTransformerBackbone

# By `recipe.model.kind`.
BACKBONES = {
    "masked_transformer": MaskedTransformerBackbone,
    "causal_transformer": CausalTransformerBackbone,
    "encoder_decoder": EncoderDecoderBackbone,
}

# By `recipe.objective.kind`.
HEADS = {
    "masked_lm": MaskedLMHeads,
    "unilm": MaskedLMHeads,
}
