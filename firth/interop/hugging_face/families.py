"""The families that are brought in and out, by the `model_type` of their configuration."""

from typing import Any

from firth.interop.errors import InteropError
from firth.interop.hugging_face.decoder_families import GPT, GPT2, LLAMA, QWEN_3
from firth.interop.hugging_face.encoder_decoder_families import BART, T5
from firth.interop.hugging_face.encoder_families import (
    ALBERT,
    BERT,
    DEBERTA,
    DISTILBERT,
    ELECTRA,
    ROBERTA,
    XLNET,
)
from firth.interop.hugging_face.family import Family
from firth.recipes.goals.goal import Goal

# In the order in which they are asked for a model that is brought out.
FAMILIES: dict[str, Family] = {
    each.model_type: each
    for each in (
        BERT,
        ROBERTA,
        ALBERT,
        ELECTRA,
        DEBERTA,
        DISTILBERT,
        XLNET,
        GPT2,
        GPT,
        LLAMA,
        QWEN_3,
        T5,
        BART,
    )
}


def family_of(model: Any, goal: Goal, is_trained: bool = True) -> Family:
    """Returns the first family that can express a model with its heads, or else without them.

    Example:

    >>> from firth.recipes import load_recipe
    >>> recipe = load_recipe("roberta_tiny")
    >>> family_of(recipe.model, recipe.goal).model_type
    'roberta'
    """
    differences = {name: _differences(family, model, is_trained) for name, family in FAMILIES.items()}
    able = [FAMILIES[name] for name, keys in differences.items() if not keys]
    if able:
        return next((family for family in able if family.heads_of(model, goal)), able[0])
    nearest = min(differences, key=lambda name: _distance(differences[name]))
    raise InteropError(
        f"no family of Hugging Face's format can express this model; the nearest is {nearest}: "
        f"{differences[nearest][0]}"
    )


def _differences(family: Family, model: Any, is_trained: bool) -> list[str]:
    found = family.differences(model)
    return [each for each in found if is_trained or "dropout" not in each.partition(":")[0]]


def _distance(differences: list[str]) -> tuple[bool, bool, int]:
    # A single value that cannot be read at all hides all others.
    is_unread = differences[0].startswith("model: ")
    return is_unread, any(each.startswith("model.kind:") for each in differences), len(differences)
