"""The model that TFX's Evaluator asks, which the steps after it ask too."""

import functools
from typing import Any

import tensorflow as tf
import tensorflow_model_analysis as tfma
from tensorflow_model_analysis.utils import model_util

from firth.serving import shared_client


def custom_eval_shared_model(
    eval_saved_model_path: str, model_name: str, eval_config: tfma.EvalConfig, **options: Any
) -> tfma.types.EvalSharedModel:
    """Returns a model for TFMA, which loads that of `shared_client` instead of another one.

    The Evaluator finds the function by its name, in the module that its `module_path` names. A baseline is
    loaded by TFMA, since one model is shared.
    """
    spec = model_util.get_model_spec(eval_config, model_name)
    if not spec.is_baseline:
        load = functools.partial(_load, eval_saved_model_path)
        options["custom_model_loader"] = tfma.types.ModelLoader(
            construct_fn=load, tags=[tf.saved_model.SERVING]
        )
    return tfma.default_eval_shared_model(
        eval_saved_model_path=eval_saved_model_path, model_name=model_name, eval_config=eval_config, **options
    )


def _load(path: str) -> Any:
    return shared_client(path).saved_model
