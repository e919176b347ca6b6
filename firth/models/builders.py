"""Builders of models from recipes, and the number of parameters that a device holds."""

import concurrent.futures
import math
from collections.abc import Mapping
from typing import Any

import keras
import numpy.typing as npt

from firth.layers.elements.layer import divided_axes
from firth.layers.elements.rematerialisation import rematerialise_blocks
from firth.layers.elements.types import Seed
from firth.models.additions.addition_kinds import extend_model
from firth.models.backbone_with_heads import BackboneWithHeads
from firth.models.goal_models import PretrainingModel, TaskModel
from firth.models.model_kinds import BACKBONES
from firth.models.projections import Projections
from firth.recipes.models.model import AnyModel
from firth.recipes.run.recipe import Recipe
from firth.recipes.run.run_recipe import RunRecipe

# By the key of a recipe's goal.
MODELS: dict[str, Any] = {"objective": PretrainingModel, "task": TaskModel}


def build_backbone(
    config: AnyModel, vocabulary_size: int, dtype: Any = None, seed: Seed = None
) -> keras.Model:
    """Returns the backbone that a recipe's `model` describes, with its weights made.

    Args:
        config: The recipe's `model`.
        vocabulary_size: Number of rows of the token embeddings, the recipe's `tokenizer.vocabulary_size`.
        dtype: A Keras dtype or policy; None takes Keras's own default.
        seed: An int, a `keras.random.SeedGenerator`, or None; see `firth.layers.elements.seeds`.

    Example:

    >>> from firth.recipes.models.transformers import MaskedTransformerConfig
    >>> positions = {"kind": "learned", "length": 16}
    >>> small = MaskedTransformerConfig(layers=1, width=8, attention={"heads": 2}, positions=positions)
    >>> build_backbone(small, vocabulary_size=20).count_params()
    1192
    """
    backbone = BACKBONES[config.kind](vocabulary_size, config, seed=seed, dtype=dtype)
    backbone.build()
    return backbone


def build_model(recipe: RunRecipe, dtype: Any = None) -> BackboneWithHeads:
    """Returns the model that a run trains, with its weights made from `recipe.seed`.

    A method's additions that do not merge are a part of it.

    Args:
        recipe: The whole recipe of a run of any kind; its `model`, its goal, `tokenizer.vocabulary_size`,
            `seed`, `training.precision` and method are read.
        dtype: A Keras dtype or policy. None for Keras's global policy if that is not float32, and otherwise
            for `recipe.training.precision`.

    Raises:
        TuningError: if the method's additions do not fit the model.

    Example: see `build_pretraining_model`, and `tests/recipes/run/adapting_test.py` for a task.
    """
    kind = MODELS[recipe.goal_key]
    model = kind(
        recipe.model,
        recipe.goal,
        vocabulary_size=recipe.tokenizer.vocabulary_size,
        seed=recipe.seed,
        dtype=dtype or _precision(recipe),
        name=kind.name_in_paths,
    )
    if recipe.export.projections:
        model.projections = Projections(recipe.export.projections, recipe.model.width, name="projections")
    model.build()
    if recipe.trained_by.extends_model:
        extend_model(model, recipe.trained_by)
    if recipe.training.rematerialisation == "blocks":
        rematerialise_blocks(model)
    if recipe.model.carries_state:
        model.backbone.carry(recipe.training.batch_size)
    return model


def build_pretraining_model(recipe: Recipe, dtype: Any = None) -> PretrainingModel:
    """Returns the model that a recipe pre-trains, as `build_model` does.

    Args:
        recipe: The whole recipe of a run that pre-trains.
        dtype: A Keras dtype or policy, as for `build_model`.

    Example:

    >>> from firth.recipes.corpus.sources import TextSource
    >>> source = TextSource(kind="text", paths=("*.txt",))
    >>> from firth.recipes.models.transformers import MaskedTransformerConfig
    >>> small = MaskedTransformerConfig(layers=1, width=8, attention={"heads": 2})
    >>> model = build_pretraining_model(Recipe(name="small", sources=(source,), model=small))
    >>> model.heads.pair_head.count_params()
    18
    """
    return build_model(recipe, dtype)


def build_outline(recipe: RunRecipe) -> BackboneWithHeads:
    """Returns a model as `build_model` does, whose weights are not made.

    They have paths, shapes and dtypes. The model cannot be called, and nothing can be assigned to it.

    Example:

    >>> from firth.recipes import load_recipe
    >>> build_outline(load_recipe("bert_large")).backbone.count_params()
    334092288
    """
    # Keras lists weights that it has not made, by thread, and makes them at the end of the next scope.
    with concurrent.futures.ThreadPoolExecutor(1) as thread:
        return thread.submit(_outline, recipe).result()


def initial_values(weights: Mapping[str, keras.Variable]) -> dict[str, npt.NDArray[Any]]:
    """Returns values of an outline's weights, drawn from the recipe's seed, by path.

    They follow from the seed and from which weights are drawn.
    """
    with keras.StatelessScope(initialize_variables=False):
        return {path: keras.ops.convert_to_numpy(each.value) for path, each in weights.items()}


def held_parameters(recipe: RunRecipe) -> int:
    """Returns the number of trained parameters that each device of `training.mesh` holds; all without a mesh.

    Example:

    >>> from firth.recipes import load_recipe
    >>> divided = "training.backend=jax", "training.strategy=model_parallel", "training.mesh={model: 2}"
    >>> [held_parameters(load_recipe("llama_tiny", settings)) for settings in ([], divided)]
    [2460288, 1230464]
    """
    outline = build_outline(recipe)
    parts = recipe.training.mesh.model if recipe.training.mesh else 1
    divided = divided_axes(outline)
    return sum(
        math.prod(each.shape) // (parts if each.path in divided else 1)
        for each in outline.trainable_variables
    )


def _precision(recipe: RunRecipe) -> str:
    """Returns Keras's global policy where somebody has set one, otherwise the recipe's."""
    policy = str(keras.config.dtype_policy().name)
    return recipe.training.precision if policy == "float32" else policy


def _outline(recipe: RunRecipe) -> BackboneWithHeads:
    with keras.StatelessScope(initialize_variables=False):
        return build_model(recipe)
