"""Warm-up requests, which TF Serving replays before a loaded model takes traffic."""

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf
from tensorflow_serving.apis import model_pb2, predict_pb2, prediction_log_pb2

from firth import features as names, storage
from firth.serving.exported_model import FOLDER
from firth.serving.parameter import WITH_PARAMETERS
from firth.serving.served_model import Served
from firth.serving.signature import Signature, inputs_with
from firth.serving.signatures import text_signatures
from firth.tokenizers.graph.special_pieces import MASK
from firth.tokenizers.graph.word_bounds import word_starts

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


class TrialRequest(NamedTuple):
    """A request that tries a model.

    Attributes:
        name: Name of the case.
        request: The request.
        refused: True if the model must refuse it.
    """

    name: str
    request: Request
    refused: bool = False


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


TEXTS = (
    "You shall know a word by the [MASK] it keeps.",
    "Returns the number of [MASK] in a list, or [MASK] if it is empty.",
    "A short one.",
)


def warmup_requests(served: Served, count: int, with_rows: bool = True) -> list[Request]:
    """Returns requests of each signature, of one text, two texts and so on."""
    requests, mask = [], served.tokenizer.mask_token or MASK
    signatures = text_signatures(served.recipe, served.tokenizer.mask_token)
    for size in range(1, count + 1):
        texts = [TEXTS[index % len(TEXTS)].replace(MASK, mask).encode() for index in range(size)]
        for name, signature in signatures.items():
            requests += requests_of(name, signature, inputs_with(signature.describe(), texts))
        if with_rows:
            rows = [sample_row(served, text, index) for index, text in enumerate(texts)]
            requests.append(Request("evaluate", {"examples": rows}))
    return requests


def requests_of(name: str, signature: Signature, texts: Mapping[str, list[bytes]]) -> list[Request]:
    """Returns a request of a signature about some texts, and one with parameters if it takes them."""
    count = len(next(iter(texts.values())))
    numbers = {key: np.full(count, each.example, each.dtype) for key, each in signature.parameters.items()}
    asked = [Request(name, {**texts})]
    return [*asked, Request(f"{name}{WITH_PARAMETERS}", {**texts, **numbers})] if numbers else asked


def sample_row(served: Served, text: bytes, example_id: int) -> bytes:
    """Returns a serialized row of one document: no negative row, and zeros as the labels of a task."""
    recipe, tokenizer = served.recipe, served.tokenizer
    tokens = tokenizer.tokenize(tf.constant([text]))[0].numpy()
    chunks = recipe.goal.sample_chunks(len(tokens), recipe.sequences)
    room = sum(chunks)
    tokens = tokens[:room]
    fields = {
        names.EXAMPLE_ID: [example_id],
        names.RAW_TOKENS: tokens,
        names.WORD_STARTS: word_starts(tokenizer, tokens, np.array([0, len(tokens)])),
        names.SENTENCE_STARTS: np.arange(len(tokens)) == 0,
        names.CHUNK_LENGTHS: list(chunks),
        names.DOCUMENT_KEYS: [example_id + 1] * len(chunks),
    }
    specs = recipe.goal.row_specs(recipe.sequences)
    labels = {name: spec for name, spec in specs.items() if name not in {*fields, names.CHARACTERS}}
    features = {name: _integers(values) for name, values in fields.items()}
    for name, spec in labels.items():
        zeros = np.zeros(spec.shape).flatten()
        features[name] = _numbers(zeros) if spec.dtype == "float32" else _integers(zeros)
    if tokenizer.max_characters:
        words = tokenizer.split([text])[0].numpy()[:room].tolist()
        features[names.WORDS] = tf.train.Feature(bytes_list=tf.train.BytesList(value=words))
    return tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString()


def _integers(values: Any) -> tf.train.Feature:
    return tf.train.Feature(int64_list=tf.train.Int64List(value=np.asarray(values, np.int64)))


def _numbers(values: Any) -> tf.train.Feature:
    return tf.train.Feature(float_list=tf.train.FloatList(value=values))
