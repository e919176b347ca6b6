"""TF Serving's gRPC: PredictionService and ModelService."""

import dataclasses
import functools
import os
import threading
from collections.abc import Callable
from concurrent.futures import CancelledError, Future, TimeoutError as FuturesTimeoutError
from typing import Any

import grpc
from tensorflow_serving.apis import (
    classification_pb2,
    get_model_metadata_pb2,
    get_model_status_pb2,
    inference_pb2,
    model_management_pb2,
    model_pb2,
    model_service_pb2_grpc,
    predict_pb2,
    prediction_service_pb2_grpc,
    regression_pb2,
)

from firth.recipes.base.errors import suggest
from firth.serving.exported_model import NoModelError
from firth.serving.server.errors import RequestError
from firth.serving.server.models import Models
from firth.serving.server.sources import ModelSource
from firth.serving.server.tensorflow_serving.examples import serialized
from firth.serving.server.tensorflow_serving.inference import (
    CLASSIFY,
    METHODS,
    REGRESS,
    ExamplesMethod,
    Outputs,
    asked_examples,
    find_method_signature,
    find_signature,
)
from firth.serving.server.tensorflow_serving.messages import (
    SIGNATURE_DEF,
    leased,
    metadata_of,
    spec_of,
    status_of,
)
from firth.serving.server.tensorflow_serving.tensors import array_of, check_inputs, proto_of
from firth.serving.server.versions import Arrays, ModelVersion

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


def add_services(server: grpc.Server, models: Models) -> None:
    """Adds TF Serving's services to a server of gRPC.

    Args:
        server: The server.
        models: The models that it answers for.
    """
    prediction_service_pb2_grpc.add_PredictionServiceServicer_to_server(_PredictionService(models), server)
    model_service_pb2_grpc.add_ModelServiceServicer_to_server(_ModelService(models), server)


Handler = Callable[[Any, Any, grpc.ServicerContext], Any]


def _answered(handler: Handler) -> Handler:
    @functools.wraps(handler)
    def answered(self: Any, request: Any, context: grpc.ServicerContext) -> Any:
        try:
            return handler(self, request, context)
        except RequestError as error:
            return context.abort(error.grpc_code, str(error))

    return answered


def _lease(models: Models, spec: model_pb2.ModelSpec) -> Any:
    if not spec.name:
        raise RequestError("Missing ModelSpec: the name of a model is empty", 400, "model_spec")
    return leased(models, spec.name, *_choice(spec))


def _choice(spec: model_pb2.ModelSpec) -> tuple[int | None, str | None]:
    version = spec.version.value if spec.HasField("version") else None
    return version, spec.version_label or None


def _submit(
    version: ModelVersion, name: str, inputs: Outputs, context: grpc.ServicerContext
) -> Future[Arrays]:
    future = version.submit(name, inputs)
    # A client that goes away waits for nothing.
    context.add_callback(future.cancel)
    return future


def _outputs(name: str, future: Future[Arrays], context: grpc.ServicerContext) -> Outputs:
    # Without a deadline, gRPC has more seconds left than a lock takes.
    seconds = min(context.time_remaining(), threading.TIMEOUT_MAX)
    try:
        return future.result(seconds)
    except (CancelledError, FuturesTimeoutError):
        raise RequestError(f"signature {name}: no answer before the deadline", 504) from None


class _PredictionService(prediction_service_pb2_grpc.PredictionServiceServicer):
    def __init__(self, models: Models) -> None:
        self._models = models

    @_answered
    def Predict(
        self, request: predict_pb2.PredictRequest, context: grpc.ServicerContext
    ) -> predict_pb2.PredictResponse:
        with _lease(self._models, request.model_spec) as version:
            name, signature = find_signature(version.signature_defs, request.model_spec.signature_name, 412)
            asked = _filtered(request.output_filter, signature)
            inputs = {key: array_of(key, each) for key, each in request.inputs.items()}
            check_inputs(name, signature, inputs)
            outputs = _outputs(name, _submit(version, name, inputs, context), context)
            response = predict_pb2.PredictResponse(model_spec=spec_of(version, name))
        for key in asked or outputs:
            response.outputs[key].CopyFrom(proto_of(outputs[key]))
        return response

    @_answered
    def Classify(
        self, request: classification_pb2.ClassificationRequest, context: grpc.ServicerContext
    ) -> classification_pb2.ClassificationResponse:
        spec, result = self._inferred(request, CLASSIFY, context)
        return classification_pb2.ClassificationResponse(model_spec=spec, result=result)

    @_answered
    def Regress(
        self, request: regression_pb2.RegressionRequest, context: grpc.ServicerContext
    ) -> regression_pb2.RegressionResponse:
        spec, result = self._inferred(request, REGRESS, context)
        return regression_pb2.RegressionResponse(model_spec=spec, result=result)

    def _inferred(
        self, request: Any, method: ExamplesMethod, context: grpc.ServicerContext
    ) -> tuple[Any, Any]:
        examples = serialized(request.input)
        with _lease(self._models, request.model_spec) as version:
            name = find_method_signature(version.signature_defs, request.model_spec.signature_name, method)
            outputs = _outputs(name, _submit(version, name, asked_examples(examples), context), context)
            return spec_of(version, name), method.result(outputs, len(examples))

    @_answered
    def MultiInference(
        self, request: inference_pb2.MultiInferenceRequest, context: grpc.ServicerContext
    ) -> inference_pb2.MultiInferenceResponse:
        _check_tasks(request.tasks)
        examples = serialized(request.input)
        response = inference_pb2.MultiInferenceResponse()
        methods = {each.method_name: each for each in METHODS.values()}
        with _lease(self._models, request.tasks[0].model_spec) as version:
            asked: dict[str, ExamplesMethod] = {}
            for task in request.tasks:
                method = methods.get(task.method_name)
                if method is None:
                    raise RequestError(
                        f"Unsupported signature method_name: {task.method_name}; "
                        f"{suggest(task.method_name, methods)}",
                        501,
                        "method_name",
                    )
                name = find_method_signature(version.signature_defs, task.model_spec.signature_name, method)
                if name in asked:
                    raise RequestError(f"Duplicate evaluation of signature: {name}", 400, "signature_name")
                asked[name] = method
            inputs = asked_examples(examples)
            futures = {name: _submit(version, name, inputs, context) for name in asked}
            for name, method in asked.items():
                outputs = _outputs(name, futures[name], context)
                result = {method.result_field: method.result(outputs, len(examples))}
                response.results.add(model_spec=spec_of(version, name), **result)
        return response

    @_answered
    def GetModelMetadata(
        self, request: get_model_metadata_pb2.GetModelMetadataRequest, context: grpc.ServicerContext
    ) -> get_model_metadata_pb2.GetModelMetadataResponse:
        if not request.metadata_field:
            raise RequestError("GetModelMetadataRequest must specify at least one metadata_field")
        for field in request.metadata_field:
            if field != SIGNATURE_DEF:
                near = suggest(field, [SIGNATURE_DEF])
                raise RequestError(f"Metadata field {field} is not supported; {near}", 400, field)
        with _lease(self._models, request.model_spec) as version:
            return metadata_of(version)


def _filtered(names: Any, signature: Any) -> list[str]:
    for index, name in enumerate(names):
        if name not in signature.outputs:
            near = suggest(name, signature.outputs)
            raise RequestError(f"output tensor alias not found in signature: {name}; {near}", 400, name)
        if name in names[:index]:
            raise RequestError(f"duplicate output tensor alias: {name}", 400, name)
    return list(names)


def _check_tasks(tasks: Any) -> None:
    if not tasks:
        raise RequestError("the request has no tasks", 400, "tasks")
    first = tasks[0].model_spec
    for task in tasks:
        if not task.model_spec.name:
            raise RequestError("Found ModelSpec with an empty model name.", 400, "model_spec")
        if task.model_spec.name != first.name or _choice(task.model_spec) != _choice(first):
            raise RequestError(
                "All ModelSpecs in a MultiInferenceRequest must access the same model name and version: "
                f"{first.name}, {task.model_spec.name}",
                400,
                "model_spec",
            )


class _ModelService(model_service_pb2_grpc.ModelServiceServicer):
    def __init__(self, models: Models) -> None:
        self._models = models

    @_answered
    def GetModelStatus(
        self, request: get_model_status_pb2.GetModelStatusRequest, context: grpc.ServicerContext
    ) -> get_model_status_pb2.GetModelStatusResponse:
        if not request.model_spec.name:
            raise RequestError("Missing ModelSpec: the name of a model is empty", 400, "model_spec")
        return status_of(self._models, request.model_spec.name, *_choice(request.model_spec))

    @_answered
    def HandleReloadConfigRequest(
        self, request: model_management_pb2.ReloadConfigRequest, context: grpc.ServicerContext
    ) -> model_management_pb2.ReloadConfigResponse:
        reload_config(self._models, request.config)
        # Its status is that of no error.
        return model_management_pb2.ReloadConfigResponse()
