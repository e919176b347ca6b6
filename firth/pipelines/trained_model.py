"""The components from rows to a pushed model, which the pipelines of all kinds of runs share.

The Pusher waits for the blessings of the Evaluator and of the ServingValidator.
"""

import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ml_metadata.metadata_store import MetadataStore
from tfx.components import Evaluator, InfraValidator, Pusher as TfxPusher, Trainer, Tuner
from tfx.components.evaluator import constants
from tfx.dsl.components.base.base_node import BaseNode
from tfx.dsl.components.common import resolver
from tfx.dsl.components.common.importer import Importer
from tfx.dsl.components.common.resolver import Resolver, ResolverStrategy
from tfx.dsl.input_resolution.strategies.latest_blessed_model_strategy import LatestBlessedModelStrategy
from tfx.proto import infra_validator_pb2, pusher_pb2, trainer_pb2
from tfx.types import BaseChannel, Channel, standard_artifacts
from tfx.types.artifact import Artifact
from tfx.utils import path_utils

from firth import storage
from firth.components import Pusher, ServingValidator
from firth.evaluation import build_eval_config
from firth.recipes.run.base import Base
from firth.recipes.run.run_recipe import RunRecipe
from firth.recipes.run.validation import InfraValidation
from firth.serving.signature import EVALUATE

RUN_FN = "firth.training.run_fn.run_fn"
TUNER_FN = "firth.training.search.tuner_fn.tuner_fn"
_EVALUATED_MODEL = "firth.components.evaluated_model"
BASE_IMPORTER, WARM_START = "BaseImporter", "WarmStart"
_PLATFORMS = {
    "local_docker": {"local_docker": infra_validator_pb2.LocalDockerConfig()},
    "kubernetes": {"kubernetes": infra_validator_pb2.KubernetesConfig()},
}
MODEL, BLESSING, CURRENT = "model", "model_blessing", "current_model"


def import_base(base: Base) -> Importer:
    """Returns the node that makes a recipe's base known to ML Metadata.

    A changed digest makes another artifact, which invalidates the cache.
    """
    importer = Importer(
        source_uri=base.bundle,
        artifact_type=standard_artifacts.Model,
        custom_properties={"digest": base.digest},
    )
    return importer.with_id(BASE_IMPORTER)


def latest_blessed() -> Resolver:
    """Returns the node that finds the latest model that the pipeline has blessed, or none, to start from."""
    channels = {
        MODEL: Channel(type=standard_artifacts.Model),
        BLESSING: Channel(type=standard_artifacts.ModelBlessing),
    }
    return Resolver(strategy_class=LatestBlessedModelStrategy, **channels).with_id(WARM_START)


def model_components(
    recipe: RunRecipe,
    trained: RunRecipe,
    examples: BaseChannel,
    base: BaseChannel | None,
    checkpoint_root: str,
    serving_dir: str,
    *,
    baseline_strategy: type[ResolverStrategy] | None,
    has_baseline: bool,
    is_local: bool,
    make_trainer: Callable[..., Trainer] = Trainer,
    make_pusher: Callable[..., TfxPusher] = Pusher,
    upstream: Iterable[BaseNode] = (),
    records: BaseChannel | None = None,
) -> dict[str, Any]:
    """Returns the components from rows to a pushed model, by their roles."""
    arguments = {
        "examples": examples,
        "base_model": base,
        "train_args": trainer_pb2.TrainArgs(num_steps=recipe.training.steps),
        "eval_args": trainer_pb2.EvalArgs(),
    }
    tuner = _tuner(trained, arguments, checkpoint_root)
    trainer = make_trainer(
        run_fn=RUN_FN,
        **arguments,
        hyperparameters=tuner.outputs["best_hyperparameters"] if tuner else None,
        custom_config=_training_config(trained.model_copy(update={"search": None}), checkpoint_root),
    )
    for node in upstream:
        (tuner or trainer).add_upstream_node(node)
    if is_local:
        check_platform(recipe.infra_validation)
    default = LatestComparableModelStrategy if is_local else LatestBlessedModelStrategy
    baseline = {"baseline": _baseline(trainer, baseline_strategy or default)} if has_baseline else {}
    evaluator = Evaluator(
        examples=examples,
        model=trainer.outputs["model"],
        baseline_model=baseline["baseline"].outputs["model"] if has_baseline else None,
        eval_config=build_eval_config(recipe.evaluation, recipe.goal),
        module_path=_EVALUATED_MODEL,
    )
    infra = (
        {"infra": infra_validator(recipe.infra_validation, trainer.outputs["model"], examples)}
        if recipe.infra_validation
        else {}
    )
    validator = ServingValidator(
        model=trainer.outputs["model"],
        examples=examples,
        infra_blessing=infra["infra"].outputs["blessing"] if infra else None,
        records=records,
    )
    pusher = make_pusher(
        model=trainer.outputs["model"],
        model_blessing=evaluator.outputs["blessing"],
        infra_blessing=validator.outputs["blessing"],
        push_destination=pusher_pb2.PushDestination(
            filesystem=pusher_pb2.PushDestination.Filesystem(base_directory=serving_dir)
        ),
    )
    return {
        **({"tuner": tuner} if tuner else {}),
        "trainer": trainer,
        **baseline,
        "evaluator": evaluator,
        **infra,
        "validator": validator,
        "pusher": pusher,
    }


def report_channels(model: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the outputs of `model_components` that a reporter reads, by the names of its inputs."""
    return {
        "tuner_results": model["tuner"].outputs["tuner_results"] if "tuner" in model else None,
        "model": model["trainer"].outputs["model"],
        "model_run": model["trainer"].outputs["model_run"],
        "evaluation": model["evaluator"].outputs["evaluation"],
        "blessing": model["evaluator"].outputs["blessing"],
        "serving_report": model["validator"].outputs["report"],
        "pushed_model": model["pusher"].outputs["pushed_model"],
    }


def _training_config(trained: RunRecipe, checkpoint_root: str) -> dict[str, str]:
    return {"recipe": trained.to_json(), "checkpoint_root": checkpoint_root}


def _tuner(trained: RunRecipe, arguments: dict[str, Any], checkpoint_root: str) -> Tuner | None:
    """Returns the component that searches values for the training; None for a recipe without a search."""
    if trained.search is None:
        return None
    config = _training_config(trained, checkpoint_root)
    return Tuner(tuner_fn=TUNER_FN, custom_config=config, **arguments)


def _baseline(trainer: Trainer, strategy: type[ResolverStrategy]) -> Resolver:
    """Returns the node that finds the blessed model to evaluate next to."""
    channels = {
        MODEL: Channel(type=standard_artifacts.Model),
        BLESSING: Channel(type=standard_artifacts.ModelBlessing),
    }
    if issubclass(strategy, LatestComparableModelStrategy):
        channels[CURRENT] = trainer.outputs["model"]
    return Resolver(strategy_class=strategy, **channels).with_id("LatestBlessedModel")


def infra_validator(asked: InfraValidation, model: BaseChannel, examples: BaseChannel) -> InfraValidator:
    """Returns the component that tries a model in TensorFlow Serving."""
    serving = infra_validator_pb2.TensorFlowServing(image_name=asked.image, tags=asked.tags)
    requests = infra_validator_pb2.TensorFlowServingRequestSpec(signature_names=[EVALUATE])
    return InfraValidator(
        model=model,
        examples=examples,
        serving_spec=infra_validator_pb2.ServingSpec(
            tensorflow_serving=serving, **_PLATFORMS[asked.platform]
        ),
        request_spec=infra_validator_pb2.RequestSpec(
            tensorflow_serving=requests, split_name="eval", num_examples=asked.rows
        ),
        validation_spec=infra_validator_pb2.ValidationSpec(
            max_loading_time_seconds=asked.max_loading_seconds
        ),
    )


def check_platform(asked: InfraValidation | None) -> None:
    """Checks that the platform of a recipe's server answers."""
    if asked is None or asked.platform != "local_docker":
        return
    import docker

    try:
        docker.from_env().ping()
    except docker.errors.DockerException as error:
        raise ValueError(
            f"infra_validation.platform: local_docker needs Docker, which does not answer here ({error}); "
            "start it, or leave infra_validation out: ServingValidator tries the model without a container"
        ) from None


class LatestComparableModelStrategy(resolver.ResolverStrategy):
    """Resolves the latest blessed model that reads the same rows as the current one.

    TFX's LatestBlessedModelStrategy would give a finished run its own model as the baseline of the next, so
    that nothing would be cached, and models of another vocabulary or row length, which cannot be compared.
    """

    def resolve_artifacts(
        self, store: MetadataStore, input_dict: dict[str, list[Artifact]]
    ) -> dict[str, list[Artifact]]:
        """Returns at most one model under `model`, its blessing, and the current model as it was given."""
        current = input_dict[CURRENT]
        blessings = {
            blessing.get_int_custom_property(constants.ARTIFACT_PROPERTY_CURRENT_MODEL_ID_KEY): blessing
            for blessing in input_dict[BLESSING]
            if blessing.get_int_custom_property(constants.ARTIFACT_PROPERTY_BLESSED_KEY)
        }
        current_ids = {artifact.id for artifact in current}
        readable = [format_read(artifact) for artifact in current]
        for model in sorted(input_dict[MODEL], key=lambda artifact: artifact.id, reverse=True):
            if model.id in blessings and model.id not in current_ids and format_read(model) in readable:
                return {MODEL: [model], BLESSING: [blessings[model.id]], CURRENT: current}
        return {MODEL: [], BLESSING: [], CURRENT: current}


def format_read(model: Artifact) -> tuple[Any, ...] | None:
    """Returns the tokenizer, the rows, and the objective or task that an exported model reads.

    It is None if the model's folder was removed.
    """
    path = os.path.join(path_utils.serving_model_path(model.uri), "assets.extra", "firth.json")
    about = storage.read_json(path)
    if about is None:
        return None
    recipe = about["recipe"]
    return about["tokenizer_digest"], recipe["sequences"], recipe.get("objective"), recipe.get("task")
