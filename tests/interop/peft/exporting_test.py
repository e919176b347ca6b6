"""Adapters of ours as peft keeps them: what came in goes out the same, and comes in again."""

import json

import numpy as np
import pytest

from firth.interop.errors import InteropError
from firth.interop.peft import export_model, load_adapter
from firth.interop.peft.exporting import write_adapter
from firth.models.bundle import read_recipe
from firth.storage.tensor_files import TensorFile
from tests.interop.peft.adapters import GOLDEN, NAMES, answers_of, bundle_of
from tests.interop.peft.loading_test import states

# One rank for all, and no layer that is several projections.
SAME = {"bert_lora", "llama_lora", "bert_ia3", "llama_ia3", "llama_loha", "bert_adalora"}


@pytest.mark.parametrize("name", NAMES)
def test_what_came_in_goes_out_and_comes_in_again(name, tmp_path):
    base, _ = answers_of(name)
    loaded = load_adapter(GOLDEN / name, bundle_of(base), "float32")
    write_adapter(loaded.model, read_recipe(bundle_of(base)), loaded.method, tmp_path / "out")
    if name in SAME:
        theirs, ours = (
            TensorFile(each / "adapter_model.safetensors") for each in (GOLDEN / name, tmp_path / "out")
        )
        assert set(ours) == set(theirs)
        for key in ours:
            np.testing.assert_array_equal(ours[key], theirs[key], err_msg=key)
    again = load_adapter(tmp_path / "out", bundle_of(base), "float32")
    np.testing.assert_allclose(states(again.model, base)[0], states(loaded.model, base)[0], atol=1e-5)


def test_settings_are_those_of_peft(tmp_path):
    loaded = load_adapter(GOLDEN / "gpt2_lora", bundle_of("gpt2"))
    write_adapter(loaded.model, read_recipe(bundle_of("gpt2")), loaded.method, tmp_path / "out")
    said = json.loads((tmp_path / "out" / "adapter_config.json").read_text())
    assert said["fan_in_fan_out"] is True and said["rank_pattern"] == {
        f"h.{block}.attn.c_attn": 6 for block in (0, 1)
    }
    assert said["alpha_pattern"] == {f"h.{block}.attn.c_attn": 24.0 for block in (0, 1)}


def test_a_run_without_an_adapter_is_refused(tmp_path):
    with pytest.raises(InteropError, match="has no adapter next to it"):
        export_model(bundle_of("bert"), tmp_path / "out")
