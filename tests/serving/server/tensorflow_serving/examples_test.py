"""Examples of Classify and Regress from JSON, and the JSON of their results: TF Serving's own cases."""

import json

import numpy as np
import pytest
import tensorflow as tf

from firth.serving.server.errors import RequestError
from firth.serving.server.tensorflow_serving.examples import read_input, serialized
from firth.serving.server.tensorflow_serving.inference import CLASSIFY, REGRESS
from firth.serving.server.tensorflow_serving.json_text import read_object

_NAN, _INF = float("nan"), float("inf")

# A request: its body, and of each example the lists of its features.
REQUESTS = {
    "without a context": (
        """{"examples": [{"names": ["foo", "bar"], "ratings": [8.0, 9.0], "age": 20},
                         {"names": ["baz"], "ratings": 6.0}]}""",
        [
            {"names": [b"foo", b"bar"], "ratings": [8.0, 9.0], "age": [20]},
            {"names": [b"baz"], "ratings": [6.0]},
        ],
    ),
    "with a context and a signature": (
        """{"signature_name": "other", "context": {"query": "pizza", "location": ["sfo"]},
            "examples": [{"names": ["foo", "bar"], "ratings": [8.0, 9.0, NaN, Infinity], "age": 20},
                         {"names": ["baz", {"b64": "aGVsbG8="}], "ratings": 6.0, "mix": [1, true, false]},
                         {"names": "bar", "ratings": -Infinity}]}""",
        [
            {
                "query": [b"pizza"],
                "location": [b"sfo"],
                "names": [b"foo", b"bar"],
                "ratings": [8.0, 9.0, _NAN, _INF],
                "age": [20],
            },
            {
                "query": [b"pizza"],
                "location": [b"sfo"],
                "names": [b"baz", b"hello"],
                "ratings": [6.0],
                "mix": [1, 1, 0],
            },
            {"query": [b"pizza"], "location": [b"sfo"], "names": [b"bar"], "ratings": [-_INF]},
        ],
    ),
    "an example wins over its context": ('{"context": {"x": 1}, "examples": [{"x": 2}]}', [{"x": [2]}]),
    "no values": ('{"examples": [{"x": []}, {}]}', [{"x": []}, {}]),
}


@pytest.mark.parametrize("case", REQUESTS)
def test_examples_are_read(case):
    body, expected = REQUESTS[case]
    found = [tf.train.Example.FromString(each) for each in serialized(read_input(read_object(body.encode())))]
    assert len(found) == len(expected)
    for example, features in zip(found, expected):
        assert example.features.feature.keys() == features.keys()
        for name, values in features.items():
            feature = example.features.feature[name]
            kind = feature.WhichOneof("kind")
            assert kind == (
                {bytes: "bytes_list", float: "float_list", int: "int64_list"}[type(values[0])]
                if values
                else None
            )
            if values:
                np.testing.assert_array_equal(list(getattr(feature, kind).value), values)


REFUSED = {
    "a list of a context": ('{"context": [{"names": ["foo"]}]}', "Example must be JSON object.*context"),
    "no examples": ("{}", "'examples'"),
    "empty": ('{"examples": []}', "'examples'"),
    "no list of examples": ('{"examples": {"names": ["foo"]}}', "'examples'.*list/array"),
    "a list for an example": (
        '{"examples": [[{"names": ["foo"]}]]}',
        r"Example must be JSON object.*examples\[0\]",
    ),
    "null": (
        '{"examples": [{"names": [10, null]}]}',
        r"names\[1\] has element with unexpected JSON type: null",
    ),
    "a float among integers": (
        '{"examples": [{"names": [10, 10.0]}]}',
        r"feature: .*names\[1\] expecting type: int64",
    ),
    "an integer among strings": ('{"examples": [{"names": ["a", 1]}]}', r"names\[1\] expecting type: bytes"),
    "an object": ('{"examples": [{"names": [10, {"test": 10}]}]}', r"names\[1\] has element.*an object"),
    "a list in a list": ('{"examples": [{"names": [[10], 20]}]}', r"names\[0\] has element.*a list of 1"),
    "over 64 bits": (
        '{"examples": [{"names": [20, 18446744073709551603]}]}',
        r"names\[1\].*Only int64_t is supported",
    ),
    "no Base64": ('{"examples": [{"names": {"b64": "*"}}]}', r"examples\[0\].names: .*base64"),
    "half a pair": (r'{"examples": [{"\udc00": 1}]}', "surrogate"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_examples_are_refused_by_their_place(case):
    body, named = REFUSED[case]
    with pytest.raises(RequestError, match=named):
        read_input(read_object(body.encode()))


_CLASSES = np.array([[b"car", b"bike", b"bus"], [b"car", b"bike", b"bus"]], object)
_SCORES = np.array([[0.2, 0.7, 0.1], [0.7, 0.1, 0.2]], np.float32)

# A result: its method, the outputs of the signature and the JSON.
RESULTS = {
    "classes and scores": (
        CLASSIFY,
        {"classes": _CLASSES, "scores": _SCORES},
        '[[["car", 0.2], ["bike", 0.7], ["bus", 0.1]], [["car", 0.7], ["bike", 0.1], ["bus", 0.2]]]',
    ),
    "scores alone": (CLASSIFY, {"scores": _SCORES[:, :1]}, '[[["", 0.2]], [["", 0.7]]]'),
    "classes alone": (CLASSIFY, {"classes": _CLASSES[:, 1:2]}, '[[["bike", 0.0]], [["bike", 0.0]]]'),
    "values": (REGRESS, {"outputs": np.array([[0.2], [1.0]], np.float32)}, "[0.2, 1.0]"),
    "what is not finite": (
        REGRESS,
        {"outputs": np.array([0.2, _INF, 1.0, -_INF, _NAN], np.float32)},
        "[0.2, Infinity, 1.0, -Infinity, NaN]",
    ),
}


@pytest.mark.parametrize("case", RESULTS)
def test_results_are_written(case):
    method, outputs, expected = RESULTS[case]
    result = method.result(outputs, len(next(iter(outputs.values()))))
    assert method.text(result) == f'{{"results": {expected}}}'
    json.loads(method.text(result))


REFUSED_RESULTS = {
    "no examples": (CLASSIFY, {"scores": _SCORES[:0]}, 0, "empty ClassificationResults"),
    "no values": (REGRESS, {"outputs": _SCORES[:0, 0]}, 0, "empty RegressionResults"),
    "one axis": (CLASSIFY, {"scores": _SCORES[:, 0]}, 2, r"scores: .*\[batch_size num_classes\]"),
    "other examples": (CLASSIFY, {"scores": _SCORES}, 3, "scores: .*of 3"),
    "classes of numbers": (CLASSIFY, {"classes": _SCORES}, 2, "classes: .*string.*float32"),
    "other classes": (CLASSIFY, {"classes": _CLASSES, "scores": _SCORES[:, :2]}, 2, "3 classes, 2 scores"),
    "two values": (REGRESS, {"outputs": _SCORES}, 2, "outputs: .*[2, 1]"),
    "integers": (REGRESS, {"outputs": np.array([1, 2])}, 2, "outputs: .*float32.*int64"),
}


@pytest.mark.parametrize("case", REFUSED_RESULTS)
def test_results_of_other_shapes_are_refused(case):
    method, outputs, count, named = REFUSED_RESULTS[case]
    with pytest.raises(RequestError, match=named):
        method.text(method.result(outputs, count))
