"""Parity with transformers' XLNet, through what golden/make_transformers_golden.py wrote down."""

import keras
import numpy as np
import pytest

from firth.interop.hugging_face.families import FAMILIES
from firth.models import example_sums, total_loss
from firth.models.backbones.two_stream_transformer import TwoStreamTransformerBackbone
from firth.models.objective_heads.permutation_lm import PermutationLMHeads
from firth.recipes.objectives.language_models import PermutationLM
from tests.backends.gradients import compiled
from tests.models import references, weights
from tests.models.references import VOCABULARY, read_golden

CLOSE = {"rtol": 0, "atol": 1e-4}
MODEL = references.SHAPES["xlnet"]
GOLDEN = read_golden("xlnet")


@pytest.fixture(scope="module")
def backbone() -> TwoStreamTransformerBackbone:
    made = TwoStreamTransformerBackbone(VOCABULARY, MODEL, dtype="float32")
    made.build()
    rules = FAMILIES["xlnet"].rules(MODEL, PermutationLM())
    ours = [rule for rule in rules if rule.ours.startswith("backbone/")]
    found = {
        rule.ours.removeprefix("backbone/"): rule.read(*(GOLDEN[f"weight/{name}"] for name in rule.theirs))
        for rule in ours
    }
    weights.copy_weights(made, found)
    return made


def features(**changes) -> dict[str, np.ndarray]:
    given = {
        "token_ids": GOLDEN["input/input_ids"],
        "segment_ids": GOLDEN["input/token_type_ids"],
        "document_ids": GOLDEN["input/attention_mask"],
        "attention_order": GOLDEN["input/attention_order"],
        "masked_positions": GOLDEN["input/positions"],
        "masked_labels": GOLDEN["input/labels"],
        **changes,
    }
    ids = {name: value.astype("int32") for name, value in given.items() if value is not None}
    return {**ids, "masked_weights": np.ones(given["masked_positions"].shape, "float32")}


def numpy(tensor) -> np.ndarray:
    return keras.ops.convert_to_numpy(tensor)


REAL = GOLDEN["input/attention_mask"] > 0


def test_without_an_order(backbone):
    found = numpy(backbone(features(attention_order=None)))
    np.testing.assert_allclose(found[REAL], GOLDEN["hidden/last"][REAL], **CLOSE)


def test_content_stream(backbone):
    found = numpy(backbone(features()))
    np.testing.assert_allclose(found[REAL], GOLDEN["hidden/content"][REAL], **CLOSE)


def test_query_stream(backbone):
    found = numpy(compiled(backbone.query_stream)(features()))
    np.testing.assert_allclose(found, GOLDEN["hidden/query"], **CLOSE)


@pytest.mark.repeated
def test_documents_of_a_packed_row(backbone):
    """Examples in one row, one after the other, have the states that they have alone."""
    given = features()
    row = {
        name: given[name][REAL][None]
        for name in ("token_ids", "segment_ids", "document_ids", "attention_order")
    }
    row["document_ids"] = (np.nonzero(REAL)[0] + 1).astype("int32")[None]
    starts = np.concatenate([[0], REAL.sum(axis=1).cumsum()[:-1]])
    row["masked_positions"] = (given["masked_positions"] + starts[:, None]).reshape(1, -1).astype("int32")
    content, query = compiled(lambda given: (backbone(given), backbone.query_stream(given)))(row)
    np.testing.assert_allclose(numpy(content)[0], GOLDEN["hidden/content"][REAL], **CLOSE)
    query = numpy(query).reshape(GOLDEN["hidden/query"].shape)
    np.testing.assert_allclose(query, GOLDEN["hidden/query"], **CLOSE)


def test_loss(backbone):
    heads = PermutationLMHeads(MODEL, PermutationLM(), VOCABULARY)
    heads.build()
    heads.bias.assign(GOLDEN["weight/lm_loss.bias"])
    found = total_loss(example_sums(heads.predictions(backbone, features())), {"lm": 1.0})
    assert abs(float(found["lm_loss"]) - GOLDEN["loss/lm"]) < 1e-4


def test_the_golden_file_is_small_and_says_what_made_it():
    assert (references.FOLDER / "xlnet.npz").stat().st_size < 100_000
    assert {"python", "torch", "transformers", "command", "config"} <= set(references.made_with("xlnet"))
