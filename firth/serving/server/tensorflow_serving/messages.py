"""Messages of TF Serving's API that both its REST and its gRPC answer with."""

import contextlib
import inspect
import json
from collections.abc import Iterator
from typing import Any

from google.protobuf import json_format
from tensorflow_serving.apis import get_model_metadata_pb2, get_model_status_pb2, model_pb2

from firth.serving.server.errors import RequestError
from firth.serving.server.models import Models
from firth.serving.server.versions import ModelVersion

SIGNATURE_DEF = "signature_def"


@contextlib.contextmanager
def leased(
    models: Models, name: str, version: int | None = None, label: str | None = None
) -> Iterator[ModelVersion]:
    """Yields a version of a model, which stays loaded.

    Args:
        models: The models.
        name: Name of the model.
        version: The version; None for the newest, or that of the label.
        label: Label of the version.

    Raises:
        RequestError: if there is no such model, version or label.
    """
    with contextlib.ExitStack() as stack:
        try:
            found = stack.enter_context(models.lease(name, version, label))
        except RequestError as error:
            # An unknown label is an invalid argument in TF Serving, and an unknown version is not found.
            if label is None or name not in models.names or error.status != 404:
                raise
            raise RequestError(str(error), 400, error.parameter) from None
        yield found


def spec_of(version: ModelVersion, signature: str = "") -> model_pb2.ModelSpec:
    """Returns the model, the version and the signature that gave an answer.

    Args:
        version: The version.
        signature: Name of the signature.
    """
    spec = model_pb2.ModelSpec(name=version.name, signature_name=signature)
    spec.version.value = version.version
    return spec


def status_of(
    models: Models, name: str, version: int | None = None, label: str | None = None
) -> get_model_status_pb2.GetModelStatusResponse:
    """Returns the states of a model's versions.

    Args:
        models: The models.
        name: Name of the model.
        version: One version; None for all.
        label: Label of one version.

    Raises:
        RequestError: if there is no such model, version or label.
    """
    if label is not None:
        with leased(models, name, None, label) as labelled:
            version = labelled.version
    response = get_model_status_pb2.GetModelStatusResponse()
    for each in models.status(name, version):
        found = response.model_version_status.add(version=each.version)
        found.state = get_model_status_pb2.ModelVersionStatus.State.Value(each.state)
        found.status.error_message = each.error_message
        found.status.error_code = each.error_code
    return response


def metadata_of(version: ModelVersion) -> get_model_metadata_pb2.GetModelMetadataResponse:
    """Returns the signatures of a version.

    Args:
        version: The version.
    """
    response = get_model_metadata_pb2.GetModelMetadataResponse(model_spec=spec_of(version))
    response.metadata[SIGNATURE_DEF].Pack(_signature_map(version))
    return response


def metadata_text(version: ModelVersion) -> str:
    """Returns the signatures of a version as JSON.

    Args:
        version: The version.
    """
    signatures = _as_dict(_signature_map(version))
    return json.dumps({"model_spec": _as_dict(spec_of(version)), "metadata": {SIGNATURE_DEF: signatures}})


def status_text(response: get_model_status_pb2.GetModelStatusResponse) -> str:
    """Returns the states of versions as JSON.

    Args:
        response: The states.
    """
    return json.dumps(_as_dict(response))


def _signature_map(version: ModelVersion) -> get_model_metadata_pb2.SignatureDefMap:
    found = get_model_metadata_pb2.SignatureDefMap()
    for name, signature in version.signature_defs.items():
        found.signature_def[name].CopyFrom(signature)
    return found


# protobuf 5 renamed it.
_OLD, _NEW = "including_default_value_fields", "always_print_fields_with_no_presence"
_WITH_DEFAULTS = _NEW if _NEW in inspect.signature(json_format.MessageToDict).parameters else _OLD


def _as_dict(message: Any) -> dict[str, Any]:
    options = {_WITH_DEFAULTS: True}
    return json_format.MessageToDict(message, preserving_proto_field_name=True, **options)
