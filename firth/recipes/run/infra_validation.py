"""A server in a container that a model is tried in before it is pushed."""

from typing import Annotated, Literal

import pydantic

from firth.recipes.base.recipe_type import Config

Tag = Annotated[str, pydantic.Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]*$")]


class InfraValidation(Config):
    """TFX's InfraValidator: TensorFlow Serving loads the model and answers held-out rows."""

    platform: Literal["local_docker", "kubernetes"] = "local_docker"
    """Where the server runs: `local_docker`, a container on this machine; or `kubernetes`, a pod next to the
    one in which the run is."""
    image: str = "tensorflow/serving"
    """Name of the server's image."""
    tags: Annotated[tuple[Tag, ...], pydantic.Field(min_length=1)] = ("latest",)
    """Tags of the image that the model has to run in, each of them."""
    rows: Annotated[int, pydantic.Field(ge=1, le=1000)] = 8
    """Held-out rows that the server is asked about."""
    max_loading_seconds: Annotated[int, pydantic.Field(ge=1, le=86_400)] = 300
    """Longest time in which the model may load."""
