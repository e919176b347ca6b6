"""Adapters that peft has saved, on our models: hidden states are peft's, next to the weights and merged."""

import json
import shutil

import numpy as np
import pytest

from firth.interop.errors import InteropError
from firth.interop.peft import load_adapter
from firth.tuning import merge
from tests.interop.peft.adapters import GOLDEN, NAMES, answers_of, bundle_of
from tests.models import references


def states(model, base) -> tuple[np.ndarray, np.ndarray]:
    """Hidden states of the golden inputs where there are tokens, and where those are."""
    features = references.features_of(base)
    real = features["document_ids"] > 0
    return np.array(model.backbone(features))[real], real


@pytest.mark.parametrize("name", NAMES)
def test_hidden_states_are_those_of_peft_and_those_of_the_merged_weights(name):
    base, expected = answers_of(name)
    loaded = load_adapter(GOLDEN / name, bundle_of(base), "float32")
    found, real = states(loaded.model, base)
    scale = np.abs(expected).max()
    np.testing.assert_allclose(found / scale, expected[real] / scale, atol=1e-5)
    merge(loaded.model)
    np.testing.assert_allclose(states(loaded.model, base)[0] / scale, found / scale, atol=1e-5)
    assert loaded.left_out == ()


def test_the_method_names_what_was_added_to():
    method = load_adapter(GOLDEN / "bert_rslora", bundle_of("bert")).method
    assert (method.kind, method.rank, method.alpha, method.rank_stabilised) == ("lora", 3, 2.0, True)
    assert {each for each in method.targets if each.startswith("encoder/block_1/")} == {
        f"encoder/block_1/{end}"
        for end in ("attention/key", "attention/output", "feed_forward/inner", "feed_forward/outer")
    }


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"peft_type": "VERA"}, "peft_type: VERA is not one of LORA, ADALORA, LOHA, IA3"),
        ({"use_dora": True}, "use_dora: True cannot be expressed here, False can"),
    ],
)
def test_what_cannot_be_expressed_is_refused(tmp_path, settings, message):
    shutil.copytree(GOLDEN / "bert_lora", tmp_path / "changed")
    path = tmp_path / "changed" / "adapter_config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **settings}))
    with pytest.raises(InteropError, match=message):
        load_adapter(tmp_path / "changed", bundle_of("bert"))


def test_an_adapter_of_another_base_is_refused_with_the_nearest_name():
    with pytest.raises(InteropError, match=r"base has no layer .*query; "):
        load_adapter(GOLDEN / "bert_lora", bundle_of("llama"))
