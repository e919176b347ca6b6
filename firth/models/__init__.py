"""Backbones and heads, built from layers and described by recipes."""

from firth.models.bert import BertBackbone
from firth.models.build import build_backbone, build_pretraining_model
from firth.models.example_sums import MASKED_LOGITS, NEXT_SENTENCE_LOGITS, example_sums, total_loss
from firth.models.losses import cross_entropy
from firth.models.pretraining import PretrainingModel
from firth.models.tables import BACKBONES, HEADS

__all__ = [
    "BACKBONES",
    "HEADS",
    "MASKED_LOGITS",
    "NEXT_SENTENCE_LOGITS",
    "BertBackbone",
    "PretrainingModel",
    "build_backbone",
    "build_pretraining_model",
    "cross_entropy",
    "example_sums",
    "total_loss",
]
