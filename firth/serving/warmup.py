"""Warm-up requests, which TF Serving replays before a loaded model takes traffic."""

import os
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import tensorflow as tf
from tensorflow_serving.apis import model_pb2, predict_pb2, prediction_log_pb2

from firth import storage
from firth.serving.description import FOLDER

FILE = "tf_serving_warmup_requests"


class Request(NamedTuple):
    """One call of a signature.

    Attributes:
        signature: Name of the signature.
        inputs: Values of a tensor whose first axis is the batch, by name of the input: a list of bytes or
            numbers, or an array of the input's dtype, as numbers of a warm-up request are written.
    """

    signature: str
    inputs: dict[str, Any]


def write_warmup(directory: str, requests: Sequence[Request]) -> None:
    """Writes requests as PredictionLogs into the folder of a SavedModel, where TF Serving looks for them."""
    folder = os.path.join(directory, FOLDER)
    os.makedirs(folder)
    with tf.io.TFRecordWriter(os.path.join(folder, FILE)) as writer:
        for request in requests:
            writer.write(_prediction_log(request).SerializeToString())


def read_warmup(directory: str) -> Iterator[Request]:
    """Yields the warm-up requests of a SavedModel; none if it has no file of them."""
    path = os.path.join(directory, FOLDER, FILE)
    if not storage.exists(path):
        return
    for record in tf.data.TFRecordDataset(path).as_numpy_iterator():
        request = prediction_log_pb2.PredictionLog.FromString(record).predict_log.request
        inputs = {name: tf.make_ndarray(tensor).tolist() for name, tensor in request.inputs.items()}
        yield Request(request.model_spec.signature_name, inputs)


def _prediction_log(request: Request) -> prediction_log_pb2.PredictionLog:
    inputs = {
        name: tf.make_tensor_proto(values, getattr(values, "dtype", tf.string))
        for name, values in request.inputs.items()
    }
    predict = predict_pb2.PredictRequest(
        model_spec=model_pb2.ModelSpec(signature_name=request.signature), inputs=inputs
    )
    return prediction_log_pb2.PredictionLog(predict_log=prediction_log_pb2.PredictLog(request=predict))
