"""Adapters of ours as peft keeps them: what came in goes out the same, and comes in again."""

import json

import numpy as np
import pytest

from firth.interop.errors import InteropError
from firth.interop.peft import export_model, load_adapter
from firth.interop.peft.folders import write_adapter
from firth.models import load_model
from firth.models.bundle import read_recipe, weights_by_path
from firth.recipes.tuning.adding import Houlsby
from firth.recipes.tuning.prompts import MultitaskPromptTuning, PTuningV2
from firth.storage.tensor_files import TensorFile
from firth.tuning import METHODS
from tests.interop.peft.adapters import GOLDEN, NAMES, answers_of, bundle_of
from tests.interop.peft.folders_loading_test import states
from tests.repeating import often

# Several ranks, and a layer that is several projections.
OTHERWISE = {"bert_rslora", "gpt2_lora"}
# The layers of peft's encoder-decoder share a prefix.
INWARDS_ALONE = {"t5_prefix"}
# Each method once, and each architecture.
FEW = (
    "bert_adalora",
    "bert_ia3",
    "bert_prefix",
    "gpt2_lora",
    "gpt2_multitask",
    "gpt2_projected",
    "llama_loha",
    "llama_p_tuning",
    "t5_prompt",
)
# The task of a text that peft asks for follows from the base.
TASK_TYPES = {
    "bert_prefix": "FEATURE_EXTRACTION",
    "gpt2_multitask": "CAUSAL_LM",
    "t5_prompt": "SEQ_2_SEQ_LM",
}


@pytest.mark.parametrize("name", often(sorted(set(NAMES) - INWARDS_ALONE), FEW))
def test_what_came_in_goes_out_and_comes_in_again(name, tmp_path):
    base, _ = answers_of(name)
    loaded = load_adapter(GOLDEN / name, bundle_of(base), "float32")
    write_adapter(loaded.model, read_recipe(bundle_of(base)), loaded.method, tmp_path / "out")
    if name not in OTHERWISE:
        theirs, ours = (
            TensorFile(each / "adapter_model.safetensors") for each in (GOLDEN / name, tmp_path / "out")
        )
        assert set(ours) == set(theirs)
        for key in ours:
            np.testing.assert_array_equal(ours[key], theirs[key], err_msg=key)
    theirs, ours = (
        json.loads((each / "adapter_config.json").read_text()) for each in (GOLDEN / name, tmp_path / "out")
    )
    if name in TASK_TYPES:
        assert ours["task_type"] == TASK_TYPES[name]
        assert all(theirs[key] == value for key, value in ours.items())
    if name == "gpt2_lora":
        assert ours["fan_in_fan_out"] is True
        assert ours["rank_pattern"] == {f"h.{block}.attn.c_attn": 6 for block in (0, 1)}
        assert ours["alpha_pattern"] == {f"h.{block}.attn.c_attn": 24.0 for block in (0, 1)}
    again = load_adapter(tmp_path / "out", bundle_of(base), "float32")
    if name in OTHERWISE:
        assert again.method.kind == loaded.method.kind
        np.testing.assert_allclose(states(again, base)[0], states(loaded, base)[0], atol=1e-5)
    else:
        assert again.method == loaded.method
        weights = weights_by_path(again.model)
        for path, each in weights_by_path(loaded.model).items():
            np.testing.assert_array_equal(weights[path], each, err_msg=path)


@pytest.mark.parametrize(
    "name, method, base, message",
    [
        (
            "t5_prefix",
            None,
            "t5",
            "p_tuning_v2 does not go out with an encoder-decoder: peft gives one prefix",
        ),
        (None, MultitaskPromptTuning(length=2), "bert", "peft reads the task of a text in decoders alone"),
        (None, PTuningV2(length=2), "albert", "layers that share their weights share a prefix here"),
        (None, Houlsby(bottleneck=2), "bert", "houlsby is not one that peft has: lora, .*prefix_tuning"),
    ],
)
def test_what_peft_does_not_have_is_refused(name, method, base, message, tmp_path):
    if name:
        loaded = load_adapter(GOLDEN / name, bundle_of(base))
        model, method = loaded.model, loaded.method
    else:
        model = load_model(bundle_of(base))
        METHODS[method.kind](model, method, 1)
    with pytest.raises(InteropError, match=message):
        write_adapter(model, read_recipe(bundle_of(base)), method, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_run_without_an_adapter_is_refused(tmp_path):
    with pytest.raises(InteropError, match="has no adapter next to it"):
        export_model(bundle_of("bert"), tmp_path / "out")
