"""A model that is deployed to an endpoint of Vertex, instead of a folder that servers watch."""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

from tfx.components import Pusher

from firth.pipelines.orchestrators.resources import read_values


@dataclasses.dataclass(frozen=True)
class Endpoint:
    """An endpoint of Vertex, and the machines that a model gets there.

    Attributes:
        project: Project that the endpoint is of.
        region: Region such as us-central1.
        name: Display name of the endpoint, which is made if there is none.
        image: Name of the container image that serves the SavedModel.
        machine: Type of the machines, such as n1-standard-4.
        accelerator: Type of the accelerators, such as NVIDIA_TESLA_T4; empty for none.
        count: Number of accelerators of each machine.
        replicas: Number of machines at least.
        max_replicas: Number of machines at most; as many as `replicas` if 0.
        traffic: Percentage of the endpoint's requests that the new model answers.
    """

    project: str
    region: str
    name: str
    image: str
    machine: str
    accelerator: str = ""
    count: int = 1
    replicas: int = 1
    max_replicas: int = 0
    traffic: int = 100

    def serving_arguments(self) -> dict[str, Any]:
        """Returns what TFX gives to `Model.deploy` of Vertex's client, with the endpoint and its project."""
        arguments: dict[str, Any] = {
            "project": self.project,
            "endpoint_name": self.name,
            "machine_type": self.machine,
            "min_replica_count": self.replicas,
            "max_replica_count": self.max_replicas or self.replicas,
            "traffic_percentage": self.traffic,
        }
        if self.accelerator:
            arguments |= {"accelerator_type": self.accelerator, "accelerator_count": self.count}
        return arguments


def read_endpoint(line: str) -> Endpoint:
    """Returns the endpoint that a line describes.

    Example:

    >>> read_endpoint("project=mine,region=us-central1,name=bert,image=a/b:1,machine=n1-standard-4").traffic
    100
    """
    endpoint = read_values(Endpoint, line, f"--endpoint {line}")
    if 0 < endpoint.max_replicas < endpoint.replicas or endpoint.traffic > 100:
        raise ValueError(
            f"--endpoint {line}: max_replicas is at least replicas ({endpoint.replicas}), and traffic at "
            "most 100"
        )
    return endpoint


def pusher_of(endpoint: Endpoint) -> Callable[..., Pusher]:
    """Returns what makes the Pusher of TFX that uploads a blessed model to Vertex and deploys it.

    Raises:
        ImportError: if Vertex's client is not installed.
    """
    from tfx.extensions.google_cloud_ai_platform import constants
    from tfx.extensions.google_cloud_ai_platform.pusher import component

    config = {
        constants.ENABLE_VERTEX_KEY: True,
        constants.VERTEX_REGION_KEY: endpoint.region,
        constants.VERTEX_CONTAINER_IMAGE_URI_KEY: endpoint.image,
        constants.SERVING_ARGS_KEY: endpoint.serving_arguments(),
    }
    return functools.partial(_make, component.Pusher, config)


def _make(pusher: type[Pusher], config: dict[str, Any], *, push_destination: Any, **inputs: Any) -> Pusher:
    """Returns a Pusher that deploys to an endpoint; it takes no folder."""
    return pusher(**inputs, custom_config=config)
