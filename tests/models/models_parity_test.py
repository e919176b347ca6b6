"""Parity with transformers' models, through what golden/make_transformers_golden.py wrote down."""

import contextlib
import functools
from unittest import mock

import keras
import numpy as np
import pytest

from firth.models import example_sums, total_loss
from tests.backends.gradients import compiled_where_it_pays
from tests.models import references
from tests.models.references import REFERENCES
from tests.repeating import often

CLOSE = {"rtol": 0, "atol": 1e-4}
# One of each kind of layers, and those with a loss of their own: of sentence orders and replaced tokens.
FEW = ["bert", "albert", "electra", "deberta", "t5", "gpt2", "llama_3_1"]
families = pytest.mark.parametrize("name", often(REFERENCES, FEW))


@functools.cache
def answers(name: str) -> dict[str, dict[str, np.ndarray]]:
    """Returns our model's answers to the golden inputs, made in one function, compiled where that pays.

    `alone` and `packed` are hidden states by the names that golden files have, of an example a row and of all
    examples in one row; `losses` are by name.
    """
    model, features = references.build_model(name), features_of(name)
    losses = dict.fromkeys(REFERENCES[name].objective.losses, 1.0)

    def answer(alone, packed, given):
        sums = example_sums(model(given))
        return {
            "alone": states_of(model.backbone, alone),
            "packed": states_of(model.backbone, packed),
            "losses": total_loss(sums, losses),
        }

    with drawing(model.heads, features) if name == "electra" else contextlib.nullcontext():
        found = compiled_where_it_pays(answer)(
            features, references.packed(features), references.features_of(name)
        )
    return {
        kind: {key: keras.ops.convert_to_numpy(value) for key, value in values.items()}
        for kind, values in found.items()
    }


def drawing(heads, features):
    """ELECTRA's discriminator reads what its generator draws; here it is what the reference read."""
    drawn = np.take_along_axis(features["token_ids"], features["masked_positions"], axis=1)
    return mock.patch.object(heads, "sample", lambda *_: drawn)


def states_of(backbone, features):
    if "decoder_token_ids" not in features:
        return {"hidden/last": backbone(features)}
    encoded = backbone.encode(features)
    return {"hidden/encoder": encoded, "hidden/last": backbone.decode(features, encoded)}


def features_of(name: str) -> dict[str, np.ndarray]:
    """Returns the features that the golden hidden states are made of."""
    features = references.features_of(name)
    if name == "electra":
        # They are those of the discriminator.
        features["token_ids"] = references.read_golden(name)["input/replaced_ids"].astype("int32")
    return features


def golden_states(name: str, key: str) -> tuple[np.ndarray, np.ndarray]:
    """Returns golden states and which of them are not of padding."""
    features = references.features_of(name)
    decodes = "decoder_document_ids" in features and key == "hidden/last"
    real = features["decoder_document_ids" if decodes else "document_ids"] > 0
    return references.read_golden(name)[key], real


@families
def test_hidden_states(name):
    for key, found in answers(name)["alone"].items():
        expected, real = golden_states(name, key)
        np.testing.assert_allclose(found[real], expected[real], **CLOSE, err_msg=key)


@families
def test_documents_of_a_packed_row(name):
    """Examples in one row, one after the other, have the states that they have alone."""
    for key, found in answers(name)["packed"].items():
        expected, real = golden_states(name, key)
        np.testing.assert_allclose(found[0], expected[real], **CLOSE, err_msg=key)


@families
def test_losses(name):
    for loss in REFERENCES[name].objective.losses:
        expected = references.read_golden(name)[f"loss/{loss}"]
        assert abs(float(answers(name)["losses"][f"{loss}_loss"]) - expected) < 1e-4, loss


@families
def test_golden_files_are_small_and_say_what_made_them(name):
    assert (references.FOLDER / f"{name}.npz").stat().st_size < 200_000
    assert {"python", "torch", "transformers", "command", "config"} <= set(references.made_with(name))
