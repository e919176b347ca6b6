"""A training of a tiny preset of each family, compiled by XLA, has the losses of one that is not."""

import pytest

from tests.training.jax_backend.families import family_recipe, write_family_artifact
from tests.training.jax_backend.jax_backend_families_test import MEASURED, curve

# XLA compiles the convolutions of elmo_tiny for six minutes on a CPU; step_xla_test has a smaller one.
PRESETS = (
    "bert_tiny",
    "deberta_v3_tiny",
    "electra_tiny",
    "gpt2_tiny",
    "llama_tiny",
    "t5_tiny",
    "xlnet_tiny",
)


@pytest.mark.repeated
@pytest.mark.parametrize("preset", PRESETS)
def test_the_losses_of_a_compiled_training_are_those_without_xla(preset, tmp_path):
    """Dropout included. `jit_compile` is an error where XLA cannot compile a part of the step."""
    artifact, curves = tmp_path / "artifact", []
    write_family_artifact(artifact, family_recipe(preset))
    for compiled in (False, True):
        recipe = family_recipe(preset, "training.steps=3", f"training.jit_compile={str(compiled).lower()}")
        curves.append(curve(recipe, artifact, tmp_path / str(compiled)))
    assert [len(each) for each in curves] == [3, 3]
    for line, other in zip(*curves, strict=True):
        for name in MEASURED:
            tolerance = 1e-3 if name == "gradient_norm" else 1e-4
            assert other[name] == pytest.approx(line[name], rel=tolerance, abs=1e-6), (line["step"], name)
