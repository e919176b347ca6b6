"""Backbones and heads, built from layers and described by recipes."""

from firth.models.build import build_backbone, build_pretraining_model
from firth.models.bundle import BundleError, load_model, save_model
from firth.models.causal_transformer import CausalTransformerBackbone
from firth.models.encoder_decoder import EncoderDecoderBackbone
from firth.models.example_sums import example_sums, total_loss
from firth.models.losses import cross_entropy
from firth.models.masked_transformer import MaskedTransformerBackbone
from firth.models.predictions import Predictions, predictions_of_logits
from firth.models.pretraining import PretrainingModel
from firth.models.tables import BACKBONES, HEADS
from firth.models.two_stream_transformer import TwoStreamTransformerBackbone

__all__ = [
    "BACKBONES",
    "HEADS",
    "BundleError",
    "CausalTransformerBackbone",
    "EncoderDecoderBackbone",
    "MaskedTransformerBackbone",
    "Predictions",
    "PretrainingModel",
    "TwoStreamTransformerBackbone",
    "build_backbone",
    "build_pretraining_model",
    "cross_entropy",
    "example_sums",
    "load_model",
    "predictions_of_logits",
    "save_model",
    "total_loss",
]
