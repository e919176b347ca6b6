"""Texts through the served functions, and their features by hand."""

import numpy as np
import tensorflow as tf

from firth.serving.served_model import Served
from tests.exported_model import RECIPE, VOCABULARY, exported_model

ids = {piece: index for index, piece in enumerate(VOCABULARY)}


def with_export(**changes) -> Served:
    served = exported_model().served
    return Served(
        served.model,
        served.tokenizer,
        RECIPE.model_copy(update={"export": RECIPE.export.model_copy(update=changes)}),
    )


def run(function, served, texts) -> dict[str, np.ndarray]:
    return {name: value.numpy() for name, value in function(served, tf.constant(texts, tf.string)).items()}


def features_of(*rows: list[str], length: int) -> dict[str, np.ndarray]:
    """The features of rows of pieces, by hand."""
    real = np.array([[1] * len(row) + [0] * (length - len(row)) for row in rows], np.int32)
    return {
        "token_ids": np.array([[ids[p] for p in row] + [0] * (length - len(row)) for row in rows], np.int32),
        "segment_ids": np.zeros_like(real),
        "position_ids": np.arange(length, dtype=np.int32) * real,
        "document_ids": real,
    }
