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
    with pytest.raises(InteropError, match=message):
        load_adapter(changed(tmp_path, "bert_lora", **settings), bundle_of("bert"))


def changed(folder, name, **settings):
    """An adapter of golden/ with other settings."""
    shutil.copytree(GOLDEN / name, folder / "changed")
    path = folder / "changed" / "adapter_config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **settings}))
    return folder / "changed"


def test_the_schedule_of_adalora_is_that_of_peft(tmp_path):
    theirs = {"tinit": 3, "tfinal": 4, "deltaT": 5, "beta1": 0.7, "beta2": 0.6, "orth_reg_weight": 0.2}
    folder = changed(tmp_path, "bert_adalora", total_step=20, target_r=8, **theirs)
    method = load_adapter(folder, bundle_of("bert")).method
    assert (method.initial_steps, method.final_steps, method.steps_between) == (3, 4, 5)
    assert (method.smoothing, method.uncertainty_smoothing, method.orthogonality) == (0.7, 0.6, 0.2)
    assert method.target_rank == method.initial_rank == 3


@pytest.mark.parametrize(
    "name, key", [("bert_lora", "lora_alpha"), ("bert_adalora", "lora_alpha"), ("llama_loha", "alpha")]
)
def test_a_scale_that_is_not_above_zero_is_refused_by_its_key(tmp_path, name, key):
    with pytest.raises(InteropError, match=f" {key}: 0 cannot be expressed here, a number above 0 can"):
        load_adapter(changed(tmp_path, name, **{key: 0}), bundle_of(answers_of(name)[0]))


def test_an_adapter_of_another_base_is_refused_with_the_nearest_name():
    with pytest.raises(InteropError, match=r"base has no layer .*query; "):
        load_adapter(GOLDEN / "bert_lora", bundle_of("llama"))
