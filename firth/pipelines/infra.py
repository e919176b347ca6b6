"""TFX's InfraValidator, and whether this machine has what it needs."""

from tfx.components import InfraValidator
from tfx.proto import infra_validator_pb2
from tfx.types import BaseChannel

from firth.recipes.run.infra_validation import InfraValidation
from firth.serving.descriptions.describing import EVALUATE

_PLATFORMS = {
    "local_docker": {"local_docker": infra_validator_pb2.LocalDockerConfig()},
    "kubernetes": {"kubernetes": infra_validator_pb2.KubernetesConfig()},
}


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
    """Passes if the platform of a recipe's server is there."""
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
