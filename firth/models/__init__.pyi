from .additions.addition_kinds import ADDITIONS as ADDITIONS
from .additions.addition_places import TuningError as TuningError
from .backbones.bilstm import BiLSTMBackbone as BiLSTMBackbone, BiLSTMConfig as BiLSTMConfig
from .backbones.causal_transformer import (
    CausalTransformerBackbone as CausalTransformerBackbone,
    CausalTransformerConfig as CausalTransformerConfig,
)
from .backbones.encoder_decoder import (
    EncoderDecoderBackbone as EncoderDecoderBackbone,
    EncoderDecoderConfig as EncoderDecoderConfig,
)
from .backbones.masked_transformer import (
    MaskedTransformerBackbone as MaskedTransformerBackbone,
    MaskedTransformerConfig as MaskedTransformerConfig,
)
from .backbones.two_stream_transformer import (
    TwoStreamTransformerBackbone as TwoStreamTransformerBackbone,
    TwoStreamTransformerConfig as TwoStreamTransformerConfig,
)
from .builders import (
    build_backbone as build_backbone,
    build_model as build_model,
    build_pretraining_model as build_pretraining_model,
)
from .bundle import BundleError as BundleError, load_model as load_model, save_model as save_model
from .elmo_import import load_elmo as load_elmo
from .goal_models import PretrainingModel as PretrainingModel, TaskModel as TaskModel
from .model_kinds import BACKBONES as BACKBONES, HEADS as HEADS
from .predictions import (
    Predictions as Predictions,
    example_sums as example_sums,
    predictions_of_logits as predictions_of_logits,
    total_loss as total_loss,
)
