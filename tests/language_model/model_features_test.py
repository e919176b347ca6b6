"""A language model of features alone, which needs no TensorFlow where Keras runs on another backend."""

import importlib.util
import sys

import keras
import numpy as np
import pytest

import firth

OVERRIDES = {"tokenizer.vocabulary_size": 100, "sequences.length": 32, "model.layers": 1}


def features(with_labels: bool) -> dict[str, np.ndarray]:
    ids = np.random.default_rng(3).integers(5, 100, (4, 12)).astype("int32")
    ones = np.ones_like(ids)
    made = {
        "token_ids": ids,
        "segment_ids": 0 * ones,
        "position_ids": np.arange(12) * ones,
        "document_ids": ones,
    }
    if not with_labels:
        return made
    return {
        **made,
        "masked_positions": ones[:, :2],
        "masked_labels": ids[:, :2],
        "masked_weights": np.ones((4, 2), "float32"),
        "pooled_positions": 0 * ones[:, :1],
        "next_sentence_labels": ones[:, :1],
        "next_sentence_weights": np.ones((4, 1), "float32"),
    }


def test_it_is_made_trained_asked_adapted_and_saved(tmp_path):
    model = firth.create("bert_tiny", overrides=OVERRIDES)
    model.compile("adamw", jit_compile=False)
    history = model.fit(features(True), epochs=3, batch_size=4, verbose=0).history
    assert history["loss"][-1] < history["loss"][0]
    model.save(tmp_path / "model.keras")
    again = firth.load(tmp_path / "model.keras")
    found = again.predict(features(False), verbose=0)["mlm"]
    assert found.shape == (4, 12, 100)
    kept = keras.ops.convert_to_numpy(model(features(False))["mlm"])
    np.testing.assert_allclose(found, kept, atol=1e-5)
    again.add_adapter("lora", rank=2)
    again.merge()
    for ask in (lambda: model.embed("a"), lambda: model.fit(["a text"]), lambda: model.generate("a")):
        with pytest.raises(ValueError, match="features alone"):
            ask()
    assert keras.backend.backend() == "tensorflow" or "tensorflow" not in sys.modules


@pytest.mark.skipif(importlib.util.find_spec("tensorflow") is not None, reason="TensorFlow is installed")
def test_what_reads_texts_says_that_it_needs_tensorflow(tmp_path):
    model = firth.create("bert_tiny", overrides=OVERRIDES)
    for ask in (
        lambda: firth.load(tmp_path),
        lambda: firth.pretrain("bert_tiny", texts=["a"]),
        lambda: firth.create("bert_tiny", tokenizer=tmp_path),
        lambda: model.finetune([{"text": "a", "label": "b"}]),
    ):
        with pytest.raises(ImportError, match=r"needs TensorFlow.*firth\.create"):
            ask()
