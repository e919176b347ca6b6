"""Adapters that peft has saved, on our models: hidden states are peft's, next to the weights and merged."""

import json
import shutil

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from firth.interop.errors import InteropError
from firth.interop.peft import load_adapter
from firth.tuning import merge
from tests.interop.peft.adapters import GOLDEN, NAMES, answers_of, bundle_of
from tests.models import references
from tests.repeating import often


def states(loaded, base) -> tuple[np.ndarray, np.ndarray]:
    """Hidden states of the golden inputs where there are tokens, and where those are."""
    features = references.features_of(base)
    if not loaded.method.starts_as_base:
        # For a prefix or a prompt, peft's golden inputs have one segment, and a task.
        features["segment_ids"] = np.zeros_like(features["token_ids"])
        features["task_ids"] = np.array([[2], [0], [1]], "int32")
    real = features.get("decoder_document_ids", features["document_ids"]) > 0
    return np.array(loaded.model.backbone(features))[real], real


# Each method once, and each architecture.
FEW = (
    "bert_adalora",
    "bert_rslora",
    "bert_prompt",
    "gpt2_projected",
    "gpt2_multitask",
    "llama_ia3",
    "llama_loha",
    "llama_p_tuning",
    "t5_prefix",
)
BEFORE = {
    "bert_prefix": "p_tuning_v2",
    "gpt2_projected": "prefix_tuning",
    "bert_prompt": "prompt_tuning",
    "llama_p_tuning": "p_tuning",
    "gpt2_multitask": "multitask_prompt_tuning",
}


@pytest.mark.parametrize("name", often(NAMES, FEW))
def test_hidden_states_are_those_of_peft_and_those_of_the_merged_weights(name):
    base, expected = answers_of(name)
    loaded = load_adapter(GOLDEN / name, bundle_of(base), "float32")
    found, real = states(loaded, base)
    scale = np.abs(expected).max()
    np.testing.assert_allclose(found / scale, expected[real] / scale, atol=1e-5)
    assert loaded.left_out == ()
    method = loaded.method
    if name in BEFORE:
        # With the network of training, or without.
        assert method.kind == BEFORE[name] and method.kept == method and method.length == 2
    if name == "gpt2_multitask":
        assert (method.tasks, method.rank) == (3, 2)
    if name == "bert_rslora":
        assert (method.kind, method.rank, method.alpha, method.rank_stabilised) == ("lora", 3, 2.0, True)
        assert {each for each in method.targets if each.startswith("encoder/block_1/")} == {
            f"encoder/block_1/{end}"
            for end in ("attention/key", "attention/output", "feed_forward/inner", "feed_forward/outer")
        }
    if method.merges:
        merge(loaded.model)
        np.testing.assert_allclose(states(loaded, base)[0] / scale, found / scale, atol=1e-5)


@pytest.mark.parametrize(
    "name, settings, message",
    [
        (
            "bert_lora",
            {"peft_type": "VERA"},
            "peft_type: VERA is not one of LORA, ADALORA, LOHA, IA3, PREFIX",
        ),
        ("bert_lora", {"use_dora": True}, "use_dora: True cannot be expressed here, False can"),
        (
            "bert_lora",
            {"alora_invocation_tokens": [1, 2]},
            r"alora_invocation_tokens: \[1, 2\] cannot be expressed here, None can",
        ),
        ("bert_lora", {"target_parameters": ["a"]}, r"target_parameters: \['a'\] cannot be expressed"),
        (
            "bert_adalora",
            {"init_lora_weights": "pissa"},
            "init_lora_weights: 'pissa' changes the base's weights",
        ),
        ("llama_loha", {"use_new_product": True}, "use_new_product: True is not known here"),
        ("bert_prompt", {"gate": 0.5}, "gate: 0.5 is not known here"),
        (
            "t5_prompt",
            {"num_transformer_submodules": 2},
            "num_transformer_submodules: 2 cannot be expressed here on this base, 1 can",
        ),
        ("t5_prefix", {"num_layers": 3}, "num_layers: 3, but the base has 2 layers to put keys before"),
        (
            "bert_prefix",
            {"num_virtual_tokens": 3},
            r"prompt_embeddings is \[2, 64\], and this base's is \[3, 64\]",
        ),
        (
            "gpt2_multitask",
            {"num_tasks": 2},
            r"prefix_task_cols is \[3, 2, 2\], and this base's is \[2, 2, 2\]",
        ),
    ],
)
def test_what_cannot_be_expressed_is_refused(tmp_path, name, settings, message):
    with pytest.raises(InteropError, match=message):
        load_adapter(changed(tmp_path, name, **settings), bundle_of(answers_of(name)[0]))


@pytest.mark.parametrize(
    "name",
    [
        "embeddings.word_embeddings.weight",
        "embeddings.word_embeddings.token_adapter.trainable_tokens_delta",
        "bert.encoder.layer.0.output.LayerNorm.weight",
    ],
)
def test_trained_weights_of_the_base_are_refused(tmp_path, name):
    folder = changed(tmp_path, "bert_lora")
    tensors = load_file(folder / "adapter_model.safetensors")
    save_file({**tensors, f"base_model.model.{name}": np.zeros(3)}, folder / "adapter_model.safetensors")
    with pytest.raises(InteropError, match=f"tensors that cannot be expressed here: base_model.model.{name}"):
        load_adapter(folder, bundle_of("bert"))


def with_base_in_front(folder):
    """An adapter of BERT as it was made for a model with heads: the base's name is in front."""
    folder = changed(folder, "bert_rslora")
    path, weights = folder / "adapter_config.json", folder / "adapter_model.safetensors"
    config = json.loads(path.read_text())
    rank, alpha = config["rank_pattern"], config["alpha_pattern"]
    assert rank == {"intermediate.dense": 2} and alpha == {"1.attention.self.key": 5}
    patterns = {"rank_pattern": rank, "alpha_pattern": {"bert.encoder.layer.1.attention.self.key": 5}}
    path.write_text(json.dumps({**config, **patterns}))
    tensors = load_file(weights)
    save_file(
        {key.replace("model.encoder", "model.bert.encoder"): each for key, each in tensors.items()}, weights
    )
    return folder


def test_patterns_have_the_name_of_the_base_in_front(tmp_path):
    base, expected = answers_of("bert_rslora")
    found, real = states(load_adapter(with_base_in_front(tmp_path), bundle_of(base), "float32"), base)
    np.testing.assert_allclose(found, expected[real], atol=1e-4)


def test_a_trained_head_comes_in_or_is_refused(tmp_path):
    folder = changed(tmp_path, "bert_lora", modules_to_save=["cls"])
    weights, stem = folder / "adapter_model.safetensors", "base_model.model."
    tensors, bias = load_file(weights), np.arange(40, dtype="float32")
    save_file({**tensors, f"{stem}cls.predictions.bias": bias}, weights)
    loaded = load_adapter(folder, bundle_of("bert"), "float32")
    np.testing.assert_array_equal(np.array(loaded.model.heads.masked_lm_head.bias), bias)
    assert loaded.left_out == ()
    save_file({**tensors, f"{stem}classifier.weight": np.ones((3, 16), "float32")}, weights)
    with pytest.raises(
        InteropError, match=r"modules_to_save: base_model.model.classifier.weight: the bundle"
    ):
        load_adapter(folder, bundle_of("bert"))
    left_out = load_adapter(folder, bundle_of("bert"), without_heads=True).left_out
    assert left_out == ("base_model.model.classifier.weight",)


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
