"""TF Serving's gRPC, asked by its official stubs."""

from concurrent import futures

import grpc
import numpy as np
import pytest
import tensorflow as tf
from tensorflow.core.framework import tensor_pb2
from tensorflow_serving.apis import (
    classification_pb2,
    get_model_metadata_pb2,
    get_model_status_pb2,
    inference_pb2,
    input_pb2,
    model_management_pb2,
    model_pb2,
    model_service_pb2_grpc,
    predict_pb2,
    prediction_service_pb2_grpc,
    regression_pb2,
)

from firth.serving.server.models import Models
from firth.serving.server.process import SERVICES
from firth.serving.server.settings import ServerSettings
from firth.serving.server.sources import ModelSource
from tests.serving.server.tensorflow_serving.half_plus_two import write_half_plus_two

NAME = "half_plus_two"
CLASSIFY, REGRESS = "tensorflow/serving/classify", "tensorflow/serving/regress"


@pytest.fixture(scope="module")
def channel(made_once):
    folder = made_once("half_plus_two", write_half_plus_two)
    server = grpc.server(futures.ThreadPoolExecutor(2))
    models = Models([ModelSource(NAME, str(folder), labels={"stable": 123})], ServerSettings())
    for add_services in SERVICES:
        add_services(server, models)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        yield channel
    server.stop(None).wait()
    models.close()


@pytest.fixture(scope="module")
def prediction(channel):
    return prediction_service_pb2_grpc.PredictionServiceStub(channel)


@pytest.fixture(scope="module")
def model_service(channel):
    return model_service_pb2_grpc.ModelServiceStub(channel)


def _spec(signature="", name=NAME, version=None, label=""):
    spec = model_pb2.ModelSpec(name=name, signature_name=signature)
    if version is not None:
        spec.version.value = version
    if label:
        spec.version_label = label
    return spec


def _predict(inputs, outputs=(), **spec):
    protos = {
        name: value if isinstance(value, tensor_pb2.TensorProto) else tf.make_tensor_proto(value)
        for name, value in inputs.items()
    }
    return predict_pb2.PredictRequest(model_spec=_spec(**spec), inputs=protos, output_filter=outputs)


def _floats(*values):
    return np.array(values, np.float32)


def _example(**features):
    found = {
        name: tf.train.Feature(float_list=tf.train.FloatList(value=[value]))
        for name, value in features.items()
    }
    return tf.train.Example(features=tf.train.Features(feature=found))


def _examples(*values):
    examples = [_example(x=value) for value in values]
    return input_pb2.Input(example_list=input_pb2.ExampleList(examples=examples))


@pytest.mark.parametrize("spec", [{}, {"version": 123}, {"label": "stable"}], ids=str)
def test_predict_answers_in_the_field_of_the_type(prediction, spec):
    response = prediction.Predict(_predict({"x": _floats([1, 2], [3, 4])}, **spec))
    assert response.model_spec == _spec("serving_default", version=123)
    (output,) = response.outputs.values()
    assert list(output.float_val) == [2.5, 3.0, 3.5, 4.0]
    assert [each.size for each in output.tensor_shape.dim] == [2, 2]


def test_predict_reads_and_gives_every_input_and_output(prediction):
    inputs = {"x": _floats([1, 2]), "key_bytes": np.array([b"\xff"], object), "count": np.int64(1)}
    outputs = prediction.Predict(_predict(inputs, signature="keyed")).outputs
    assert outputs.keys() == {"y", "key_bytes", "next"}
    assert tf.make_ndarray(outputs["y"]).tolist() == [[2.5, 3.0]]
    assert list(outputs["key_bytes"].string_val) == [b"\xff"]
    assert tf.make_ndarray(outputs["next"]) == 2
    filtered = prediction.Predict(_predict(inputs, ["next"], signature="keyed"))
    assert filtered.outputs.keys() == {"next"}


def test_classify_and_regress_answer_about_examples(prediction):
    request = classification_pb2.ClassificationRequest(
        model_spec=_spec("classify_sign"), input=_examples(-2.0, 0.5)
    )
    response = prediction.Classify(request)
    assert response.model_spec == _spec("classify_sign", version=123)
    found = [[(each.label, each.score) for each in row.classes] for row in response.result.classifications]
    assert found == [[("negative", 2.0)], [("positive", 0.5)]]

    with_context = input_pb2.ExampleListWithContext(
        examples=[_example(), _example(x=2.0)], context=_example(x=80.0)
    )
    regressed = prediction.Regress(
        regression_pb2.RegressionRequest(
            model_spec=_spec("regress_x_to_y"), input=input_pb2.Input(example_list_with_context=with_context)
        )
    )
    assert [each.value for each in regressed.result.regressions] == [42.0, 3.0]


def _tasks(*tasks, examples=(2.0,)):
    return inference_pb2.MultiInferenceRequest(
        tasks=[inference_pb2.InferenceTask(model_spec=spec, method_name=method) for spec, method in tasks],
        input=_examples(*examples),
    )


def test_multi_inference_asks_several_signatures_about_the_same_examples(prediction):
    response = prediction.MultiInference(
        _tasks(
            (_spec("regress_x_to_y"), REGRESS),
            (_spec("classify_x_to_y"), CLASSIFY),
            (_spec("regress_x_to_y2"), REGRESS),
        )
    )
    first, second, third = response.results
    assert first.regression_result.regressions[0].value == 3.0
    assert second.classification_result.classifications[0].classes[0].score == 3.0
    assert third.regression_result.regressions[0].value == 4.0
    assert third.model_spec == _spec("regress_x_to_y2", version=123)


def test_the_metadata_has_the_signatures(prediction):
    request = get_model_metadata_pb2.GetModelMetadataRequest(
        model_spec=_spec(), metadata_field=["signature_def"]
    )
    response = prediction.GetModelMetadata(request)
    assert response.model_spec == _spec(version=123)
    found = get_model_metadata_pb2.SignatureDefMap()
    assert response.metadata["signature_def"].Unpack(found)
    assert found.signature_def["regress_x_to_y"].inputs["inputs"].dtype == tf.string.as_datatype_enum


def test_the_status_of_versions(model_service):
    for spec in (_spec(), _spec(version=123), _spec(label="stable")):
        response = model_service.GetModelStatus(get_model_status_pb2.GetModelStatusRequest(model_spec=spec))
        (status,) = response.model_version_status
        assert (status.version, status.state) == (123, get_model_status_pb2.ModelVersionStatus.AVAILABLE)
        assert (status.status.error_code, status.status.error_message) == (0, "")


def test_a_configuration_is_taken(model_service):
    request = model_management_pb2.ReloadConfigRequest()
    config = request.config.model_config_list.config.add(name=NAME, version_labels={"stable": 123})
    assert model_service.HandleReloadConfigRequest(request).status.error_code == 0
    config.name = "half_plus_to"
    with pytest.raises(grpc.RpcError, match=f"mean {NAME}") as error:
        model_service.HandleReloadConfigRequest(request)
    assert error.value.code() == grpc.StatusCode.NOT_FOUND


def _huge():
    proto = tf.make_tensor_proto(_floats(1.0))
    proto.tensor_shape.dim[0].size = 2**40
    return proto


def _short():
    proto = tf.make_tensor_proto(_floats(1.0, 2.0))
    proto.tensor_shape.dim[0].size = 3
    return proto


def _below_zero():
    proto = tf.make_tensor_proto(_floats(1.0))
    proto.tensor_shape.dim[0].size = -1
    return proto


_X = {"x": _floats(1.0)}

# A refused request: the method, the request, the code and what the message names.
REFUSED = {
    "an unknown model": ("Predict", _predict(_X, name="half_plus_to"), "NOT_FOUND", "half_plus_two"),
    "no model": ("Predict", _predict(_X, name=""), "INVALID_ARGUMENT", "ModelSpec"),
    "an unknown version": ("Predict", _predict(_X, version=99), "NOT_FOUND", "99"),
    "an unknown label": ("Predict", _predict(_X, label="canary"), "INVALID_ARGUMENT", "canary"),
    "an unknown signature": ("Predict", _predict(_X, signature="row"), "FAILED_PRECONDITION", "mean rows"),
    "an unknown input": ("Predict", _predict({"xx": _X["x"]}), "INVALID_ARGUMENT", "xx"),
    "a missing input": ("Predict", _predict({}), "INVALID_ARGUMENT", "x of signature serving_default"),
    "an unknown output": ("Predict", _predict(_X, ["z"]), "INVALID_ARGUMENT", "z; one of: y"),
    "an output twice": ("Predict", _predict(_X, ["y", "y"]), "INVALID_ARGUMENT", "duplicate .*y"),
    "another type": ("Predict", _predict({"x": [1]}), "INVALID_ARGUMENT", "x: .*int32.*float32"),
    "another shape": (
        "Predict",
        _predict({**_X, "key_bytes": ["a"]}, signature="rows"),
        "INVALID_ARGUMENT",
        r"x: shape \[1\], not \[\?, 2\]",
    ),
    "a type without a name": (
        "Predict",
        _predict({"x": tensor_pb2.TensorProto(dtype=999)}),
        "INVALID_ARGUMENT",
        "x: .*999",
    ),
    "a huge tensor": ("Predict", _predict({"x": _huge()}), "RESOURCE_EXHAUSTED", "x: .*1099511627776"),
    "fewer values": ("Predict", _predict({"x": _short()}), "INVALID_ARGUMENT", "x: the values"),
    "a free axis": ("Predict", _predict({"x": _below_zero()}), "INVALID_ARGUMENT", "x: the shape"),
    "no examples": (
        "Classify",
        classification_pb2.ClassificationRequest(model_spec=_spec()),
        "INVALID_ARGUMENT",
        "empty",
    ),
    "no signature of examples": (
        "Regress",
        regression_pb2.RegressionRequest(model_spec=_spec(), input=_examples(1.0)),
        "INVALID_ARGUMENT",
        "regress_x_to_y, regress_x_to_y2",
    ),
    "an example without a feature": (
        "Regress",
        regression_pb2.RegressionRequest(
            model_spec=_spec("regress_x_to_y"),
            input=input_pb2.Input(example_list=input_pb2.ExampleList(examples=[_example()])),
        ),
        "INVALID_ARGUMENT",
        "Feature: x",
    ),
    "no tasks": ("MultiInference", _tasks(), "INVALID_ARGUMENT", "tasks"),
    "no model of a task": (
        "MultiInference",
        _tasks((_spec(name=""), REGRESS)),
        "INVALID_ARGUMENT",
        "ModelSpec",
    ),
    "tasks of two models": (
        "MultiInference",
        _tasks((_spec("regress_x_to_y"), REGRESS), (_spec("a", name="other"), REGRESS)),
        "INVALID_ARGUMENT",
        "half_plus_two, other",
    ),
    "a signature twice": (
        "MultiInference",
        _tasks((_spec("regress_x_to_y"), REGRESS), (_spec("regress_x_to_y"), REGRESS)),
        "INVALID_ARGUMENT",
        "regress_x_to_y",
    ),
    "an unknown method": (
        "MultiInference",
        _tasks((_spec("regress_x_to_y"), "tensorflow/serving/regres")),
        "UNIMPLEMENTED",
        "mean tensorflow/serving/regress",
    ),
    "no field of metadata": (
        "GetModelMetadata",
        get_model_metadata_pb2.GetModelMetadataRequest(model_spec=_spec()),
        "INVALID_ARGUMENT",
        "metadata_field",
    ),
    "an unknown field of metadata": (
        "GetModelMetadata",
        get_model_metadata_pb2.GetModelMetadataRequest(model_spec=_spec(), metadata_field=["signatures"]),
        "INVALID_ARGUMENT",
        "mean signature_def",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_request_is_refused_by_its_code(case, prediction):
    method, request, code, named = REFUSED[case]
    with pytest.raises(grpc.RpcError, match=named) as error:
        getattr(prediction, method)(request)
    assert error.value.code() == grpc.StatusCode[code]


def test_the_status_of_unknown_models_and_versions_is_refused(model_service):
    for spec, code in [
        (_spec(name="half_plus_to"), grpc.StatusCode.NOT_FOUND),
        (_spec(version=99), grpc.StatusCode.NOT_FOUND),
        (_spec(name=""), grpc.StatusCode.INVALID_ARGUMENT),
    ]:
        with pytest.raises(grpc.RpcError) as error:
            model_service.GetModelStatus(get_model_status_pb2.GetModelStatusRequest(model_spec=spec))
        assert error.value.code() == code
