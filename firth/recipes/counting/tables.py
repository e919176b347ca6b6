"""The tables of what is counted: for each kind of backbone, and for each kind of heads."""

from collections.abc import Callable
from typing import NamedTuple

from firth.recipes.counting import activations, backbone_work, backbones, head_work, heads
from firth.recipes.counting.backbone_work import Work


class BackboneCounts(NamedTuple):
    """The counts of one kind of backbone.

    Attributes:
        parameters: (model, vocabulary size) -> numbers of parameters, by part.
        work: (model, lengths) -> multiply-adds.
        kept: (model, lengths) -> numbers that the forward pass of a row keeps.
    """

    parameters: Callable[..., dict[str, int]]
    work: Callable[..., Work]
    kept: Callable[..., int]


class HeadCounts(NamedTuple):
    """The counts of one kind of heads.

    Attributes:
        parameters: (model, goal, vocabulary size) -> numbers of parameters, by part.
        work: (model, goal, vocabulary size, lengths) -> multiply-adds.
        logits: (goal, vocabulary size, lengths) -> logits that the forward pass of a row keeps.
        kept: (model, goal, lengths) -> other numbers that it keeps.
    """

    parameters: Callable[..., dict[str, int]]
    work: Callable[..., Work]
    logits: Callable[..., int] = activations.selected_logits
    kept: Callable[..., int] = activations.nothing


# By `recipe.model.kind`.
BACKBONES = {
    "masked_transformer": BackboneCounts(
        backbones.masked_transformer, backbone_work.one_stack, activations.one_stack
    ),
    "causal_transformer": BackboneCounts(
        backbones.causal_transformer, backbone_work.one_stack, activations.one_stack
    ),
    "encoder_decoder": BackboneCounts(
        backbones.encoder_decoder, backbone_work.encoder_decoder, activations.encoder_decoder
    ),
    "two_stream_transformer": BackboneCounts(
        backbones.two_stream_transformer,
        backbone_work.two_stream_transformer,
        activations.two_stream_transformer,
    ),
    "bilstm": BackboneCounts(backbones.bilstm, backbone_work.bilstm, activations.bilstm),
}

# By `recipe.objective.heads`.
HEADS = {
    "masked_lm": HeadCounts(heads.masked_lm, head_work.masked_lm, kept=activations.mask_decoder),
    "span_masking": HeadCounts(heads.span_masking, head_work.span_masking, activations.span_logits),
    "replaced_token_detection": HeadCounts(
        heads.replaced_token_detection, head_work.replaced_token_detection, kept=activations.generator
    ),
    "permutation_lm": HeadCounts(heads.permutation_lm, head_work.permutation_lm),
    "language_model": HeadCounts(heads.language_model, head_work.language_model),
    "bidirectional_lm": HeadCounts(
        heads.bidirectional_lm, head_work.bidirectional_lm, activations.sampled_logits
    ),
}
