"""Parity with transformers' models, through what golden/make_transformers_golden.py wrote down."""

import keras
import numpy as np
import pytest

from firth.models import example_sums, total_loss
from tests.models import references
from tests.models.references import REFERENCES

CLOSE = {"rtol": 0, "atol": 1e-4}
families = pytest.mark.parametrize("name", REFERENCES)


def states_of(model, features) -> dict[str, np.ndarray]:
    """Returns our hidden states by the names that golden files have for them."""
    states = {"hidden/last": model.backbone(features)}
    if "decoder_token_ids" in features:
        states["hidden/encoder"] = model.backbone.encode(features)
    return {name: keras.ops.convert_to_numpy(value) for name, value in states.items()}


def real_tokens(features, name: str) -> np.ndarray:
    """Returns which positions of these states are not padding."""
    decodes = "decoder_document_ids" in features and name == "hidden/last"
    return features["decoder_document_ids" if decodes else "document_ids"] > 0


def features_of(name: str) -> dict[str, np.ndarray]:
    features = references.features_of(name)
    if name == "electra":
        # Its last states are those of the discriminator.
        features["token_ids"] = references.read_golden(name)["input/replaced_ids"].astype("int32")
    return features


@families
def test_hidden_states(name):
    features, golden = features_of(name), references.read_golden(name)
    for key, found in states_of(references.build_model(name), features).items():
        real = real_tokens(features, key)
        np.testing.assert_allclose(found[real], golden[key][real], **CLOSE, err_msg=key)


@families
def test_documents_of_a_packed_row(name):
    """Examples in one row, one behind the other, have the states that they have alone."""
    features, golden = features_of(name), references.read_golden(name)
    row = references.packed(features)
    for key, found in states_of(references.build_model(name), row).items():
        np.testing.assert_allclose(found[0], golden[key][real_tokens(features, key)], **CLOSE, err_msg=key)


@families
def test_losses(name, monkeypatch):
    model, golden = references.build_model(name), references.read_golden(name)
    features = references.features_of(name)
    if name == "electra":
        # What its discriminator reads is drawn by its generator; here it is what the reference read.
        places = features["masked_positions"]
        drawn = np.take_along_axis(golden["input/replaced_ids"], places, axis=1).astype("int32")
        monkeypatch.setattr(model.heads, "sample", lambda *_: drawn)
    losses = dict.fromkeys(REFERENCES[name].objective.losses, 1.0)
    found = total_loss(example_sums(model(features)), losses)
    for loss in losses:
        assert abs(float(found[f"{loss}_loss"]) - golden[f"loss/{loss}"]) < 1e-4, loss


@families
def test_golden_files_are_small_and_say_what_made_them(name):
    assert (references.FOLDER / f"{name}.npz").stat().st_size < 200_000
    assert {"python", "torch", "transformers", "command", "config"} <= set(references.made_with(name))
