"""What the forward pass of one row keeps for its backward pass: an estimate, for each family."""

from collections.abc import Callable

from firth.recipes.counting.blocks import AnyTransformer
from firth.recipes.counting.lengths import Lengths, lengths_of
from firth.recipes.models.model import (
    BiLSTMConfig,
    EncoderDecoderConfig,
    MaskedTransformerConfig,
    TwoStreamTransformerConfig,
)
from firth.recipes.objectives.language_models import BidirectionalLM
from firth.recipes.objectives.masking import MaskDecoding, ReplacedTokenDetection, SpanMasking
from firth.recipes.objectives.objective_base import Objective
from firth.recipes.run.generator import generator_of
from firth.recipes.run.recipe import Recipe

_FLOAT32 = 4
_BFLOAT16 = 2


def activation_bytes(recipe: Recipe) -> int:
    """Returns the bytes that the forward pass of one row keeps for its backward pass: an estimate.

    For each token and block of a transformer, these are 9 tensors as wide as the hidden states (4 more for
    attention to an encoder), 3 as wide as the feed-forward layer (5 with a gate), and 3 rows of attention
    probabilities a head (scores' softmax, the dropout mask, their product). For each word and LSTM, they are
    6 tensors as wide as its cells and 3 as its output; for each word also what the convolutions make of its
    characters. For each selected prediction, they are the logits and their probabilities in float32. Where
    every token is predicted, logits are made in chunks and not kept, except those of ELMo's drawn words.

    Args:
        recipe: Recipe of one stage.
    """
    element = _FLOAT32 if recipe.training.precision == "float32" else _BFLOAT16
    lengths = lengths_of(recipe)
    model, objective = recipe.model, recipe.objective
    kept = _BACKBONES[model.kind](model, lengths)
    if isinstance(model, MaskedTransformerConfig):
        kept += _on_top(model, objective, lengths)
    return element * kept + 2 * _FLOAT32 * _logits(recipe, lengths)


def _on_top(model: MaskedTransformerConfig, objective: Objective, lengths: Lengths) -> int:
    """The generator's blocks, and those of a mask decoder."""
    if not isinstance(objective, MaskDecoding):
        return 0
    kept = 0
    if isinstance(objective, ReplacedTokenDetection):
        model = generator_of(model, objective)
        kept = _one_stack(model, lengths)
    return kept + objective.further_passes * lengths.input * _block(model, lengths.input)


def _logits(recipe: Recipe, lengths: Lengths) -> int:
    objective, vocabulary = recipe.objective, recipe.tokenizer.vocabulary_size
    if isinstance(objective, SpanMasking) and objective.boundary:
        return 2 * lengths.selected * vocabulary
    if isinstance(objective, BidirectionalLM):
        drawn = objective.negatives or 0
        return 2 * lengths.input * drawn if drawn < vocabulary else 0
    return lengths.selected * vocabulary


def _one_stack(model: AnyTransformer, lengths: Lengths) -> int:
    return lengths.input * (model.layers * _block(model, lengths.input) + model.width)


def _encoder_decoder(model: EncoderDecoderConfig, lengths: Lengths) -> int:
    source, target = lengths.input, lengths.target
    cross = 4 * model.width + 3 * model.attention.heads * source
    decoder = model.blocks_of_decoder * (_block(model, target) + cross) + model.width
    return _one_stack(model, lengths) + target * decoder


def _two_streams(model: TwoStreamTransformerConfig, lengths: Lengths) -> int:
    # Next to the probabilities, the scores by relative position before they are shifted into place.
    token = _block(model, lengths.input) + 2 * model.attention.heads * lengths.input
    return (lengths.input + lengths.selected) * (model.layers * token + model.width)


def _bilstm(model: BiLSTMConfig, lengths: Lengths) -> int:
    characters = model.characters
    convolved = sum(count * (characters.max_characters - span + 1) for span, count in characters.filters)
    highways = 4 * characters.highway_layers * sum(count for _, count in characters.filters)
    cells = 2 * model.layers * (6 * model.cells + 3 * model.projection_width)
    return lengths.input * (convolved + highways + cells)


def _block(model: AnyTransformer | TwoStreamTransformerConfig, keys: int) -> int:
    inner = (5 if model.feed_forward.gated else 3) * model.inner_width
    return 9 * model.width + inner + 3 * model.attention.heads * keys


_BACKBONES: dict[str, Callable[..., int]] = {
    "masked_transformer": _one_stack,
    "causal_transformer": _one_stack,
    "encoder_decoder": _encoder_decoder,
    "two_stream_transformer": _two_streams,
    "bilstm": _bilstm,
}
