"""Models that a server answers for, changed by a request while it runs."""

import dataclasses
import os
from typing import Any

from firth.recipes.base.errors import suggest
from firth.serving.exported_model import NoModelError
from firth.serving.server.errors import RequestError
from firth.serving.server.models import Models
from firth.serving.server.sources import ModelSource

_PLATFORM = "tensorflow"


def reload_config(models: Models, config: Any) -> None:
    """Takes the versions and labels of a configuration, and lets go of the models that it leaves out.

    Only the models that the server was started with are accepted, in the folders where it found them: a
    request names no other place of the file system.

    Args:
        models: The models.
        config: The ModelServerConfig.

    Raises:
        RequestError: if a model, its folder, a version or a label is not valid, or a version does not load.
    """
    if config.WhichOneof("config") != "model_config_list":
        raise RequestError("only a model_config_list is supported", 400, "config")
    configs = config.model_config_list.config
    names = [each.name for each in configs]
    for index, name in enumerate(names):
        if name in names[:index]:
            raise RequestError(f"the model {name} is named twice", 400, "name")
    served = {each.name: each for each in models.sources}
    sources = [_source(each, served, models) for each in configs]
    try:
        for source in sources:
            _check_versions(source)
        models.reload(sources)
    except NoModelError as error:
        raise RequestError(str(error), 412, "base_path") from None
    for source in sources:
        for status in models.status(source.name):
            if status.error_code and status.version in source.wanted():
                raise RequestError(status.error_message, 412, source.name)


def _source(config: Any, served: dict[str, ModelSource], models: Models) -> ModelSource:
    if config.name not in served:
        raise RequestError(
            f"the server was not started with a model {config.name}; {suggest(config.name, served)}",
            404,
            "name",
        )
    source = served[config.name]
    if config.base_path and os.path.normpath(config.base_path) != os.path.normpath(source.path):
        raise RequestError(
            f"{config.name}: base_path {config.base_path} is not the folder that the server was started with",
            400,
            "base_path",
        )
    if config.model_platform not in ("", _PLATFORM):
        raise RequestError(
            f"{config.name}: model_platform {config.model_platform} is not {_PLATFORM}", 400, "model_platform"
        )
    source = dataclasses.replace(source, **_versions(config), labels=dict(config.version_labels))
    loaded = [each.version for each in models.status(config.name) if each.state == "AVAILABLE"]
    for label, version in source.labels.items():
        if version not in loaded:
            raise RequestError(
                f"{config.name}: label {label} is of version {version}, which is not loaded: "
                f"{', '.join(map(str, loaded))}",
                412,
                "version_labels",
            )
    return source


def _check_versions(source: ModelSource) -> None:
    found = source.wanted()
    for version in source.versions:
        if version not in found:
            raise RequestError(f"{source.path} has no version {version} of {source.name}", 404, "versions")


def _versions(config: Any) -> dict[str, Any]:
    """Returns the fields of a source that say which versions are served."""
    policy = config.model_version_policy
    chosen = policy.WhichOneof("policy_choice")
    if chosen == "specific":
        if not policy.specific.versions:
            raise RequestError(f"{config.name}: specific names no versions", 400, "versions")
        return {"versions": tuple(policy.specific.versions), "newest": 1}
    if chosen == "all":
        return {"versions": (), "newest": 0}
    return {"versions": (), "newest": policy.latest.num_versions or 1}
