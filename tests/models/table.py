"""Tiny recipes and features for the tests of models."""

import numpy as np

from firth.recipes.model import Bert
from firth.recipes.objective import MaskedLM
from firth.recipes.recipe import Recipe
from firth.recipes.sources import TextSource
from firth.recipes.tokenizer import Sequences, WordPieceTokenizer
from firth.recipes.training import Training

VOCABULARY, LENGTH, PREDICTIONS, DOCUMENTS, BATCH = 23, 12, 3, 2, 3
SOURCES = (TextSource(kind="text", paths=("*.txt",)),)

# One for every kind of backbone.
MODELS = {"bert": Bert(layers=2, width=16, heads=4, positions=14, feed_forward_width=24)}


def tiny_recipe(model=None, **parts) -> Recipe:
    defaults = {
        "tokenizer": WordPieceTokenizer(vocabulary_size=VOCABULARY),
        "sequences": Sequences(length=LENGTH, max_documents=DOCUMENTS),
        "objective": MaskedLM(max_predictions=PREDICTIONS),
        "training": Training(steps=20_000),
    }
    return Recipe(name="tiny", sources=SOURCES, model=model or MODELS["bert"], **{**defaults, **parts})


def make_features(seed: int = 0, batch: int = BATCH) -> dict[str, np.ndarray]:
    """Rows of two documents, 7 and 4 tokens long, and one token of padding."""
    generator = np.random.default_rng(seed)
    document_ids = np.tile(np.repeat([1, 2, 0], [7, 4, 1]), (batch, 1))
    positions = np.tile(np.concatenate([np.arange(7), np.arange(4), [0]]), (batch, 1))
    row = {
        "token_ids": generator.integers(1, VOCABULARY, (batch, LENGTH)) * (document_ids > 0),
        "segment_ids": generator.integers(0, 2, (batch, LENGTH)) * (document_ids > 0),
        "position_ids": positions,
        "document_ids": document_ids,
        "masked_positions": np.tile([2, 9, 0], (batch, 1)),
        "masked_labels": generator.integers(1, VOCABULARY, (batch, PREDICTIONS)),
        "masked_weights": np.tile([1.0, 1.0, 0.0], (batch, 1)),
        "pooled_positions": np.tile([0, 7], (batch, 1)),
        "next_sentence_labels": generator.integers(0, 2, (batch, DOCUMENTS)),
        "next_sentence_weights": np.tile([1.0, 1.0], (batch, 1)),
    }
    return {
        name: value.astype("float32" if name.endswith("weights") else "int32") for name, value in row.items()
    }
