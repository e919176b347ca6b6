"""What all methods promise, on each of Keras's backends, and in mixed precision."""

import numpy as np
import pytest
from keras import ops

from firth.models import PretrainingModel, TuningError
from firth.models.bundle import weights_by_path
from firth.recipes.tuning import adalora, adding, bottleneck
from firth.tuning import METHODS, merge
from tests.models.table import MODELS, TRAINED, VOCABULARY, training_features

ADDING = {
    "lora": adding.LoRA(rank=2),
    "adalora": adalora.AdaLoRA(initial_rank=2, target_rank=1, alpha=100.0),
    "loha": adding.LoHa(rank=2, alpha=30.0),
    "ia3": adding.IA3(),
    "houlsby": bottleneck.Houlsby(bottleneck=4),
    "pfeiffer": bottleneck.Pfeiffer(reduction_factor=4.0),
}
CASE = "masked_lm"


def states(model) -> np.ndarray:
    found = model.backbone(training_features(CASE), training=False)
    return ops.convert_to_numpy(ops.cast(found, "float32"))


@pytest.mark.repeated
@pytest.mark.parametrize("dtype", ["float32", "mixed_bfloat16"])
@pytest.mark.parametrize("method", ADDING.values(), ids=ADDING)
def test_a_model_starts_as_its_base_and_is_merged_where_it_can_be(method, dtype):
    name, objective = TRAINED[CASE]
    model = PretrainingModel(MODELS[name], objective, VOCABULARY, seed=1, dtype=dtype, name="model")
    model.build()
    at_first, before = states(model), {path: np.array(each) for path, each in weights_by_path(model).items()}
    METHODS[method.kind](model, method, 1)
    near = {"atol": 1e-5} if dtype == "float32" else {"atol": 0.1}
    np.testing.assert_allclose(states(model), at_first, **near)
    assert all(weight.dtype == "float32" for weight in model.added.weights)
    generator = np.random.default_rng(5)
    for weight in model.added.weights:
        weight.assign(weight + generator.normal(0.0, 0.05, weight.shape))
    with_additions = states(model)
    assert np.abs(with_additions - at_first).max() > 0.05
    for path, each in before.items():
        np.testing.assert_array_equal(weights_by_path(model)[path], each, err_msg=path)
    if not method.merges:
        with pytest.raises(TuningError, match="cannot be merged"):
            merge(model)
        return
    merge(model)
    np.testing.assert_allclose(states(model), with_additions, **near)
