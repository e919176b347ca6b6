"""Parameters counted from recipe types equal those of built models, for every preset's kind of model."""

import json
import math

import pytest

from firth.models.builders import build_outline
from firth.recipes import Recipe, load_recipe, preset_names
from firth.recipes.counting import parameter_counts
from tests.repeating import often

TRANSFORMER = {
    "layers": 2,
    "width": 32,
    "attention": {"heads": 4, "head_width": 16, "key_value_heads": 2, "dropout": 0.0},
    "feed_forward": {"width": 48},
    "norm": {"epsilon": 1e-6},
    "embeddings": {"width": 16},
    "dropout": 0.0,
    "positions": {"length": 192, "max_distance": 8, "buckets": 4, "base": 1e4},
}
BILSTM = {
    "cells": 12,
    "projection_width": 6,
    "characters": {"width": 4, "max_characters": 8, "filters": [[1, 4], [2, 6]]},
}
OTHERS = {
    "tokenizer": {"vocabulary_size": 280, "max_characters": 8},
    "sequences": {"length": 24},
    "objective": {"max_predictions": 4, "generator_width_fraction": 0.5, "negatives": 20},
}


def shrunk(data: dict, small: dict) -> dict:
    """Replaces given values by small ones; a value that a preset leaves open stays so."""
    return {key: _shrunk(value, small[key]) if key in small else value for key, value in data.items()}


def _shrunk(value, small):
    if isinstance(value, dict):
        return shrunk(value, small)
    return small if value is not None else None


def small_twin(name: str, overrides=()) -> Recipe:
    data = load_recipe(name, overrides).model_dump(mode="json")
    model = BILSTM if data["model"]["kind"] == "bilstm" else TRANSFORMER
    small = shrunk(data, {**OTHERS, "model": model})
    return Recipe.model_validate_json(json.dumps({**small, "name": "small"}))


def distinct_shapes() -> dict[str, Recipe]:
    """One preset for each model and objective that differ in more than sizes."""
    shapes: dict[str, tuple[str, Recipe]] = {}
    for name in preset_names():
        recipe = small_twin(name)
        key = recipe.model.to_json() + recipe.objective.kind + str(recipe.objective.losses)
        shapes.setdefault(key, (name, recipe))
    return dict(shapes.values())


SHAPES = distinct_shapes()
# A table of other width than the model's, which no preset of these kinds has.
for _name in ("gpt2_tiny", "bart_tiny"):
    SHAPES[f"{_name} factorised"] = small_twin(_name, ["model.embeddings.width=16"])
SHAPES["deberta masked_lm"] = small_twin(
    "deberta_v3_tiny", ["objective={kind: masked_lm, next_sentence: false, mask_decoder: {length: 128}}"]
)


# Each kind of backbone and objective, and what else is counted otherwise.
FEW = (
    "elmo_tiny",
    "spanbert_tiny",
    "albert_tiny",
    "electra_tiny",
    "deberta masked_lm",
    "modernbert_tiny",
    "xlnet_tiny",
    "qwen_3_tiny",
    "prefix_lm_tiny",
    "unilm_tiny",
    "t5_1_1_tiny",
    "t5_ablation_shared_denoising",
    "bart_tiny factorised",
    "gpt2_tiny factorised",
)


@pytest.mark.parametrize("name", often(SHAPES, FEW))
def test_counted_parameters_are_those_of_the_model(name):
    recipe = SHAPES[name]
    # Weights that are not made have the shapes of those that are: `builders_outline_test.py` compares them.
    model = build_outline(recipe)
    counts = parameter_counts(recipe)
    assert sum(math.prod(weight.shape) for weight in model.trainable_weights) == counts["total_with_heads"]
