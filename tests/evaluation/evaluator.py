"""TFX's own Evaluator, run as a pipeline runs it."""

import json

from tfx.components.evaluator.executor import Executor
from tfx.types import standard_artifacts, standard_component_specs
from tfx.utils import proto_utils


def run_evaluator(folder, examples, model_uri, config, baseline=False):
    """Runs the Evaluator on a model, and on the same as a baseline; returns its evaluation and blessing."""
    evaluation, blessing = standard_artifacts.ModelEvaluation(), standard_artifacts.ModelBlessing()
    evaluation.uri, blessing.uri = str(folder / "evaluation"), str(folder / "blessing")
    model = standard_artifacts.Model()
    model.uri = model_uri
    model.id = 1
    inputs = {"examples": [examples], "model": [model]}
    if baseline:
        inputs["baseline_model"] = [model]
    properties = {
        standard_component_specs.EVAL_CONFIG_KEY: proto_utils.proto_to_json(config),
        standard_component_specs.EXAMPLE_SPLITS_KEY: json.dumps(["eval"]),
        standard_component_specs.FEATURE_SLICING_SPEC_KEY: None,
        standard_component_specs.MODULE_PATH_KEY: None,
    }
    executor = Executor(Executor.Context(tmp_dir=str(folder), unique_id="1"))
    executor.Do(inputs, {"evaluation": [evaluation], "blessing": [blessing]}, properties)
    return evaluation, blessing
