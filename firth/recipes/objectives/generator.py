"""The shape of ELECTRA's generator, which follows from the discriminator's."""

from typing import TYPE_CHECKING

from firth.recipes.models.transformers import MaskedTransformerConfig

if TYPE_CHECKING:
    from firth.recipes.objectives.masking import ReplacedTokenDetection


def generator_of(
    model: MaskedTransformerConfig, objective: "ReplacedTokenDetection"
) -> MaskedTransformerConfig:
    """Returns the generator's shape: the discriminator's own, made smaller (Clark et al. 2020, section 3.1).

    Fractions are rounded, and at least one head and one layer are left. The embeddings keep their width,
    since generator and discriminator share them.

    Raises:
        pydantic.ValidationError: if the heads that are left do not divide the width that is left.

    Example:

    >>> from firth.recipes.objectives.masking import ReplacedTokenDetection
    >>> small = MaskedTransformerConfig(layers=12, width=256, attention={"heads": 4})
    >>> made = generator_of(small, ReplacedTokenDetection())
    >>> made.layers, made.width, made.attention.heads, made.inner_width, made.embedding_width
    (12, 64, 1, 256, 256)
    """
    fraction = objective.generator_width_fraction
    attention = model.attention.model_dump()
    attention["heads"] = _part(model.attention.heads, fraction)
    if model.attention.key_value_heads:
        attention["key_value_heads"] = _part(model.attention.key_value_heads, fraction)
    return MaskedTransformerConfig.model_validate({
        **model.model_dump(),
        "layers": _part(model.layers, objective.generator_layers_fraction),
        "width": _part(model.width, fraction),
        "attention": attention,
        "feed_forward": {**model.feed_forward.model_dump(), "width": _part(model.inner_width, fraction)},
        "embeddings": {**model.embeddings.model_dump(), "width": model.embedding_width, "projected": False},
    })  # fmt: skip


def _part(count: int, fraction: float) -> int:
    return max(1, round(count * fraction))
