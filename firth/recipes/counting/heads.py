"""Parameters of an objective's heads, by part."""

from collections.abc import Callable

from firth.recipes.counting.blocks import dense, projection, stack
from firth.recipes.models.model import (
    BiLSTMConfig,
    CausalTransformerConfig,
    EncoderDecoderConfig,
    MaskedTransformerConfig,
    TwoStreamTransformerConfig,
)
from firth.recipes.objectives.language_models import BidirectionalLM
from firth.recipes.objectives.masking import (
    MaskedLM,
    PermutationLM,
    ReplacedTokenDetection,
    SpanMasking,
    UniLM,
)
from firth.recipes.objectives.objective_base import Objective
from firth.recipes.run.generator import generator_of
from firth.recipes.run.recipe import Recipe


def heads(recipe: Recipe) -> dict[str, int]:
    """Returns the parameters of the parts that the objective trains on top of the backbone.

    A projection that is the token table is not counted again; its bias is.

    Args:
        recipe: Recipe of the model.
    """
    objective = recipe.objective
    return _HEADS[objective.kind](recipe.model, objective, recipe.tokenizer.vocabulary_size)


def pooler(recipe: Recipe) -> dict[str, int]:
    """Returns the parameters of the pooler if the family's papers and checkpoints count one, trained or not.

    Args:
        recipe: Recipe of the model.
    """
    has_one = (
        recipe.model.kind == "masked_transformer" and recipe.objective.kind != "replaced_token_detection"
    )
    return {"pooler": dense(recipe.model.width, recipe.model.width)} if has_one else {}


def _tokens_head(model: MaskedTransformerConfig, vocabulary: int) -> int:
    """A dense layer to the width of the token table, a layer norm, and the bias of the vocabulary."""
    return dense(model.width, model.embedding_width) + 2 * model.embedding_width + vocabulary


def _masked_lm(
    model: MaskedTransformerConfig, objective: MaskedLM | UniLM, vocabulary: int
) -> dict[str, int]:
    counts = {"masked_lm_head": _tokens_head(model, vocabulary)}
    if isinstance(objective, MaskedLM) and objective.mask_decoder is not None:
        counts["mask_positions"] = objective.mask_decoder.length * model.width
    if objective.has_pair_task:
        pairs = "next_sentence_head" if "nsp" in objective.losses else "sentence_order_head"
        counts[pairs] = dense(model.width, 2)
    return counts


def _span_masking(model: MaskedTransformerConfig, objective: SpanMasking, vocabulary: int) -> dict[str, int]:
    counts = {"masked_lm_head": _tokens_head(model, vocabulary)}
    if objective.boundary:
        width = model.width
        layers = dense(3 * width, width) + dense(width, width) + 2 * 2 * width
        counts["span_boundary_head"] = objective.boundary_places * width + layers + vocabulary
    return counts


def _replaced_token_detection(
    model: MaskedTransformerConfig, objective: ReplacedTokenDetection, vocabulary: int
) -> dict[str, int]:
    """The generator reads the discriminator's embeddings, so only what lies after them is its own."""
    generator = generator_of(model, objective)
    behind = projection(generator, generator.embedding_width, generator.width)
    if objective.mask_decoder is not None:
        behind += objective.mask_decoder.length * generator.width
    return {
        "generator": behind + stack(generator, generator.layers) + _tokens_head(generator, vocabulary),
        "replaced_token_head": dense(model.width, model.width) + dense(model.width, 1),
    }


def _permutation_lm(
    model: TwoStreamTransformerConfig, objective: PermutationLM, vocabulary: int
) -> dict[str, int]:
    del model, objective
    return {"permutation_lm_head": vocabulary}


def _language_model(
    model: CausalTransformerConfig | EncoderDecoderConfig, objective: Objective, vocabulary: int
) -> dict[str, int]:
    """The output projection where it is not the token table, and what leads to a table of another width."""
    del objective
    width = model.embedding_width
    to_table = dense(model.width, width, bias=False) if width != model.width else 0
    count = to_table + (0 if model.tied_output else vocabulary * width)
    return {"language_model_head": count} if count else {}


def _bidirectional_lm(model: BiLSTMConfig, objective: BidirectionalLM, vocabulary: int) -> dict[str, int]:
    """Both directions share the softmax."""
    del objective
    return {"softmax": dense(model.projection_width, vocabulary)}


_HEADS: dict[str, Callable[..., dict[str, int]]] = {
    "masked_lm": _masked_lm,
    "span_masking": _span_masking,
    "replaced_token_detection": _replaced_token_detection,
    "unilm": _masked_lm,
    "permutation_lm": _permutation_lm,
    "causal_lm": _language_model,
    "prefix_lm": _language_model,
    "bidirectional_lm": _bidirectional_lm,
    "span_corruption": _language_model,
    "iid_denoising": _language_model,
    "salient_spans": _language_model,
    "denoising": _language_model,
}
