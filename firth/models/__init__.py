"""Backbones and heads, built from layers and described by recipes.

Example: a backbone alone, from its config.

>>> import numpy as np
>>> config = CausalTransformerConfig(layers=1, width=8, attention={"heads": 2})
>>> backbone = CausalTransformerBackbone(10, config)
>>> ones = np.ones((1, 5), "int32")
>>> tuple(backbone({"token_ids": ones, "position_ids": ones, "document_ids": ones}).shape)
(1, 5, 8)
"""

from firth.models.additions.holding import TuningError
from firth.models.additions.table import ADDITIONS
from firth.models.backbones.bilstm import BiLSTMBackbone
from firth.models.backbones.causal_transformer import CausalTransformerBackbone
from firth.models.backbones.encoder_decoder import EncoderDecoderBackbone
from firth.models.backbones.masked_transformer import MaskedTransformerBackbone
from firth.models.backbones.two_stream_transformer import TwoStreamTransformerBackbone
from firth.models.build import build_backbone, build_model, build_pretraining_model
from firth.models.bundle import BundleError, load_model, save_model
from firth.models.elmo_import import load_elmo
from firth.models.outputs.example_sums import example_sums, total_loss
from firth.models.outputs.predictions import Predictions, predictions_of_logits
from firth.models.pretraining import PretrainingModel
from firth.models.tables import BACKBONES, HEADS
from firth.models.task_model import TaskModel
from firth.recipes.models.bilstm import BiLSTMConfig
from firth.recipes.models.transformers import (
    CausalTransformerConfig,
    EncoderDecoderConfig,
    MaskedTransformerConfig,
)
from firth.recipes.models.two_stream_transformer import TwoStreamTransformerConfig

__all__ = [
    "ADDITIONS",
    "BACKBONES",
    "HEADS",
    "BiLSTMBackbone",
    "BiLSTMConfig",
    "BundleError",
    "CausalTransformerBackbone",
    "CausalTransformerConfig",
    "EncoderDecoderBackbone",
    "EncoderDecoderConfig",
    "MaskedTransformerBackbone",
    "MaskedTransformerConfig",
    "Predictions",
    "PretrainingModel",
    "TaskModel",
    "TuningError",
    "TwoStreamTransformerBackbone",
    "TwoStreamTransformerConfig",
    "build_backbone",
    "build_model",
    "build_pretraining_model",
    "example_sums",
    "load_elmo",
    "load_model",
    "predictions_of_logits",
    "save_model",
    "total_loss",
]
