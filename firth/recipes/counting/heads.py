"""Parameters of the heads on top of a backbone, by part."""

from firth.recipes.counting.blocks import dense, projection, stack
from firth.recipes.goals.goal import Goal
from firth.recipes.models.model import (
    BiLSTMConfig,
    CausalTransformerConfig,
    EncoderDecoderConfig,
    MaskedTransformerConfig,
    TwoStreamTransformerConfig,
)
from firth.recipes.objectives.generator import generator_of
from firth.recipes.objectives.language_models import BidirectionalLM
from firth.recipes.objectives.masking import (
    MaskedLM,
    PermutationLM,
    ReplacedTokenDetection,
    SpanMasking,
    UniLM,
)


def _tokens_head(model: MaskedTransformerConfig, vocabulary: int) -> int:
    """A dense layer to the width of the token table, a layer norm, and the bias of the vocabulary."""
    return dense(model.width, model.embedding_width) + 2 * model.embedding_width + vocabulary


def masked_lm(model: MaskedTransformerConfig, objective: MaskedLM | UniLM, vocabulary: int) -> dict[str, int]:
    """Returns the parameters of the head on tokens, a mask decoder's positions, and the head on pairs.

    Args:
        model: Shape of the backbone.
        objective: Goal that the heads are made for.
        vocabulary: Number of rows of the token table.
    """
    counts = {"masked_lm_head": _tokens_head(model, vocabulary)}
    if objective.mask_positions:
        counts["mask_positions"] = objective.mask_positions * model.width
    if objective.trains_pooler:
        pairs = "next_sentence_head" if "nsp" in objective.losses else "sentence_order_head"
        counts[pairs] = dense(model.width, 2)
    return counts


def span_masking(model: MaskedTransformerConfig, objective: SpanMasking, vocabulary: int) -> dict[str, int]:
    """Returns the parameters of the head on tokens, and the span boundary objective's.

    Args:
        model: Shape of the backbone.
        objective: Goal that the heads are made for.
        vocabulary: Number of rows of the token table.
    """
    counts = {"masked_lm_head": _tokens_head(model, vocabulary)}
    if objective.boundary:
        width = model.width
        layers = dense(3 * width, width) + dense(width, width) + 2 * 2 * width
        counts["span_boundary_head"] = objective.boundary_places * width + layers + vocabulary
    return counts


def replaced_token_detection(
    model: MaskedTransformerConfig, objective: ReplacedTokenDetection, vocabulary: int
) -> dict[str, int]:
    """Returns the parameters of the generator after the shared embeddings, and of the discriminator's head.

    Args:
        model: Shape of the backbone.
        objective: Goal that the heads are made for.
        vocabulary: Number of rows of the token table.
    """
    generator = generator_of(model, objective)
    behind = projection(generator, generator.embedding_width, generator.width)
    behind += objective.mask_positions * generator.width
    return {
        "generator": behind + stack(generator, generator.layers) + _tokens_head(generator, vocabulary),
        "replaced_token_head": dense(model.width, model.width) + dense(model.width, 1),
    }


def permutation_lm(
    model: TwoStreamTransformerConfig, objective: PermutationLM, vocabulary: int
) -> dict[str, int]:
    """Returns the parameters of the bias of the vocabulary.

    Args:
        model: Shape of the backbone.
        objective: Goal that the heads are made for.
        vocabulary: Number of rows of the token table.
    """
    del model, objective
    return {"permutation_lm_head": vocabulary}


def language_model(
    model: CausalTransformerConfig | EncoderDecoderConfig, objective: Goal, vocabulary: int
) -> dict[str, int]:
    """Returns the parameters of the output projection, if it is not the token table.

    A projection to a table of another width is counted too.

    Args:
        model: Shape of the backbone.
        objective: Goal that the heads are made for.
        vocabulary: Number of rows of the token table.
    """
    del objective
    width = model.embedding_width
    to_table = dense(model.width, width, bias=False) if width != model.width else 0
    count = to_table + (0 if model.tied_output else vocabulary * width)
    return {"language_model_head": count} if count else {}


def bidirectional_lm(model: BiLSTMConfig, objective: BidirectionalLM, vocabulary: int) -> dict[str, int]:
    """Returns the parameters of the softmax, which both directions share.

    Args:
        model: Shape of the backbone.
        objective: Goal that the heads are made for.
        vocabulary: Number of rows of the token table.
    """
    del objective
    return {"softmax": dense(model.projection_width, vocabulary)}
