"""Classify and Regress on signatures of serialized examples: their checks, results and JSON."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import tensorflow as tf
from tensorflow_serving.apis import classification_pb2, regression_pb2

from firth.recipes.base.errors import suggest
from firth.serving.server.errors import RequestError
from firth.serving.server.tensorflow_serving.json_text import decimals

DEFAULT = tf.saved_model.DEFAULT_SERVING_SIGNATURE_DEF_KEY
# Both methods read the same input.
_INPUTS = tf.saved_model.CLASSIFY_INPUTS
_OUTPUTS = tf.saved_model.REGRESS_OUTPUTS
_CLASSES = tf.saved_model.CLASSIFY_OUTPUT_CLASSES
_SCORES = tf.saved_model.CLASSIFY_OUTPUT_SCORES

Outputs = Mapping[str, npt.NDArray[Any]]


class ExamplesMethod(NamedTuple):
    """A kind of answer on examples.

    Attributes:
        name: The verb of its address, `classify` or `regress`.
        method_name: Name of the method in a SignatureDef and in a task of MultiInference.
        problem: Function from a SignatureDef to the reason why it does not answer so; empty if it does.
        result: Function from outputs and the number of examples to the protocol buffer of the results.
        text: Function from that protocol buffer to JSON.
        result_field: Field of an answer to MultiInference that has the results.
    """

    name: str
    method_name: str
    problem: Callable[[Any], str]
    result: Callable[[Outputs, int], Any]
    text: Callable[[Any], str]
    result_field: str


def find_signature(signature_defs: Mapping[str, Any], name: str, status: int = 400) -> tuple[str, Any]:
    """Returns the name and the SignatureDef of a signature.

    Args:
        signature_defs: SignatureDefs of a model by name.
        name: Name of the signature; empty for the default one.
        status: Status of HTTP of an unknown name.

    Raises:
        RequestError: naming the nearest signature.
    """
    name = name or DEFAULT
    if name not in signature_defs:
        near = suggest(name, signature_defs) if signature_defs else "the model has none"
        raise RequestError(
            f'Serving signature name: "{name}" not found in signature def; {near}', status, "signature_name"
        )
    return name, signature_defs[name]


def find_method_signature(signature_defs: Mapping[str, Any], name: str, method: ExamplesMethod) -> str:
    """Returns the name of a signature that answers a method.

    Args:
        signature_defs: As in `find_signature`.
        name: As there.
        method: The method.

    Raises:
        RequestError: if the signature has other inputs or outputs, naming those that fit.
    """
    name, signature = find_signature(signature_defs, name)
    if problem := method.problem(signature):
        others = ", ".join(sorted(key for key, each in signature_defs.items() if not method.problem(each)))
        those = f"signature_name may be {others}" if others else "the model has no signature for it"
        message = f"signature {name} does not {method.name}: {problem}; {those}"
        raise RequestError(message, 400, "signature_name")
    return name


def asked_examples(examples: Sequence[bytes]) -> dict[str, npt.NDArray[Any]]:
    """Returns the input of a signature that answers a method.

    Args:
        examples: Serialized examples.
    """
    texts = np.empty(len(examples), object)
    texts[:] = examples
    return {_INPUTS: texts}


def _input_problem(signature: Any) -> str:
    if list(signature.inputs) != [_INPUTS]:
        return f"Expected one input Tensor, {_INPUTS}; it has {', '.join(sorted(signature.inputs)) or 'none'}"
    if signature.inputs[_INPUTS].dtype != tf.string.as_datatype_enum:
        found = tf.as_dtype(signature.inputs[_INPUTS].dtype).name
        return f"{_INPUTS} takes {found}, not the strings of serialized examples"
    return ""


def _classify_problem(signature: Any) -> str:
    outputs = sorted(signature.outputs)
    if not outputs or not {*outputs} <= {_CLASSES, _SCORES}:
        return f"Expected outputs {_CLASSES}, {_SCORES} or both; it has {', '.join(outputs) or 'none'}"
    return _input_problem(signature)


def _regress_problem(signature: Any) -> str:
    if list(signature.outputs) != [_OUTPUTS]:
        return (
            f"Expected one output Tensor, {_OUTPUTS}; it has {', '.join(sorted(signature.outputs)) or 'none'}"
        )
    return _input_problem(signature)


def _check(name: str, array: npt.NDArray[Any], count: int, dtype: tf.DType, shapes: str) -> None:
    found = tf.as_dtype(array.dtype)
    if found != dtype:
        raise RequestError(f"{name}: Expected {dtype.name} Tensor. Got: {found.name}", 400, name)
    if array.ndim != 2 or len(array) != count:
        got = list(array.shape)
        raise RequestError(f"{name}: Expected Tensor shape: {shapes} of {count} but got {got}", 400, name)


def _classifications(outputs: Outputs, count: int) -> classification_pb2.ClassificationResult:
    classes, scores = outputs.get(_CLASSES), outputs.get(_SCORES)
    shapes = "[batch_size num_classes]"
    if classes is not None:
        _check(_CLASSES, classes, count, tf.string, shapes)
    if scores is not None:
        _check(_SCORES, scores, count, tf.float32, shapes)
    if classes is None:
        assert scores is not None
        classes = np.full(scores.shape, b"", object)
    if scores is None:
        scores = np.zeros(classes.shape, np.float32)
    if classes.shape != scores.shape:
        raise RequestError(
            f"Tensors class and score should match: {classes.shape[1]} classes, {scores.shape[1]} scores"
        )
    rows = [
        classification_pb2.Classifications(
            classes=[
                classification_pb2.Class(label=label.decode("utf-8", "replace"), score=score)
                for label, score in zip(*row)
            ]
        )
        for row in zip(classes.tolist(), scores.tolist())
    ]
    return classification_pb2.ClassificationResult(classifications=rows)


def _regressions(outputs: Outputs, count: int) -> regression_pb2.RegressionResult:
    values = outputs[_OUTPUTS]
    _check(
        _OUTPUTS, values.reshape(-1, 1) if values.ndim == 1 else values, count, tf.float32, "[batch_size, 1]"
    )
    if values.size != count:
        raise RequestError(f"{_OUTPUTS}: Expected Tensor shape: [{count}, 1] but got {list(values.shape)}")
    regressions = [regression_pb2.Regression(value=value) for value in values.ravel().tolist()]
    return regression_pb2.RegressionResult(regressions=regressions)


def classification_text(result: classification_pb2.ClassificationResult) -> str:
    """Returns the JSON of classes and scores of each example.

    Args:
        result: The classes and scores.
    """
    if not result.classifications:
        raise RequestError("Cannot convert empty ClassificationResults to JSON")
    rows = []
    for each in result.classifications:
        scores = decimals(np.array([found.score for found in each.classes], np.float32))
        labels = [json.dumps(found.label, ensure_ascii=False) for found in each.classes]
        rows.append(f"[{', '.join(f'[{label}, {score}]' for label, score in zip(labels, scores))}]")
    return f'{{"results": [{", ".join(rows)}]}}'


def regression_text(result: regression_pb2.RegressionResult) -> str:
    """Returns the JSON of the value of each example.

    Args:
        result: The values.
    """
    if not result.regressions:
        raise RequestError("Cannot convert empty RegressionResults to JSON")
    values = np.array([each.value for each in result.regressions], np.float32)
    return f'{{"results": [{", ".join(decimals(values))}]}}'


CLASSIFY = ExamplesMethod(
    "classify",
    tf.saved_model.CLASSIFY_METHOD_NAME,
    _classify_problem,
    _classifications,
    classification_text,
    "classification_result",
)
REGRESS = ExamplesMethod(
    "regress",
    tf.saved_model.REGRESS_METHOD_NAME,
    _regress_problem,
    _regressions,
    regression_text,
    "regression_result",
)
METHODS = {each.name: each for each in (CLASSIFY, REGRESS)}
