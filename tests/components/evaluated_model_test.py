"""The model of TFX's Evaluator."""

from tfx.components.util import udf_utils

from firth.evaluation import build_eval_config
from firth.pipelines import trained_model
from firth.recipes import CausalLM, Evaluation
from firth.serving import forget_client, shared_client
from tests.exported_model import exported_model


def test_the_candidate_is_the_model_of_the_steps_after_it_and_a_baseline_is_not():
    properties = {"module_path": trained_model._EVALUATED_MODEL}
    make = udf_utils.try_get_fn(properties, "custom_eval_shared_model")
    config = build_eval_config(Evaluation(), CausalLM())
    try:
        for is_baseline in (False, True):
            config.model_specs[0].is_baseline = is_baseline
            shared = make(
                eval_saved_model_path=exported_model().directory,
                model_name="",
                eval_config=config,
                add_metrics_callbacks=None,
            )
            loaded = shared.model_loader.load()
            assert "evaluate" in loaded.signatures
            assert (loaded is shared_client(exported_model().directory).saved_model) != is_baseline
    finally:
        forget_client()
