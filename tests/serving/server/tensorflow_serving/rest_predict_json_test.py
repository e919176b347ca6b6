"""JSON of `:predict`: the cases of TF Serving's own tests of its JSON, and those around them."""

import json
import math
import re

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.core.protobuf import meta_graph_pb2

from firth.serving.server.errors import RequestError
from firth.serving.server.tensorflow_serving.json_text import read_object
from firth.serving.server.tensorflow_serving.rest import predict_text, read_predict, signature_of
from tests.repeating import often


def _signature(types):
    found = meta_graph_pb2.SignatureDef()
    for name, dtype in types.items():
        found.inputs[name].dtype = tf.as_dtype(dtype).as_datatype_enum
    return found


def _read(types, body):
    request = read_object(body if isinstance(body, bytes) else body.encode())
    return signature_of(request), read_predict(request, _signature(types))


_NAN, _INF = float("nan"), float("inf")
_DEEP = "[" * 500_000 + "]" * 500_000
_BODY = '{"instances": [[1, 2], [3, 4], [5, 6]]}'
_THREE = [[1, 2], [3, 4], [5, 6]]
_MAX, _TINY = np.finfo(np.float64).max, np.finfo(np.float64).tiny
_MIXED = {"int": "int32", "str": "string", "single": "float32", "double": "float64"}

# A request: the types of the signature's inputs, the body and the tensors.
REQUESTS = {
    "a single tensor's name is dropped": ({"x": "int32"}, _BODY, {"x": _THREE}),
    "a named signature": (
        {"x": "int32"},
        '{"signature_name": "predict_images", "instances": [[1, 2]]}',
        {"x": [[1, 2]]},
    ),
    "a byte order mark": ({"x": "int32"}, b"\xef\xbb\xbf" + _BODY.encode(), {"x": _THREE}),
    "what is nested deep and not read": (
        {"x": "int32"},
        f'{{"instances": [1], "nested": {_DEEP}}}',
        {"x": [1]},
    ),
    "integers of a float32": (
        {"x": "float32"},
        '{"instances": [1, 2.0, 3, 4, 5.003, 0.007, 0.0]}',
        {"x": [1, 2.0, 3, 4, 5.003, 0.007, 0.0]},
    ),
    "integers of a float64": (
        {"x": "float64"},
        '{"instances": [1.0, 2, 3, 4, 0.662, 0, 0.0]}',
        {"x": [1, 2, 3, 4, 0.662, 0, 0]},
    ),
    "a float32 with fewer digits": (
        {"x": "float32"},
        '{"instances": [1435774380, 1435774380.0]}',
        {"x": [1435774336, 1435774336]},
    ),
    "over the largest float32": (
        {"x": "float32"},
        f'{{"instances": [{_MAX}, -{_MAX}]}}',
        {"x": [_INF, -_INF]},
    ),
    "under the least float32": (
        {"x": "float32"},
        f'{{"instances": [{_TINY}, -{_TINY}]}}',
        {"x": [0.0, -0.0]},
    ),
    "bytes": (
        {"x": "string"},
        '{"instances": [{"b64": "aGVsbG8="}, {"b64": "d29ybGQ="}]}',
        {"x": [b"hello", b"world"]},
    ),
    "bytes without padding": ({"x": "string"}, '{"instances": [{"b64": "aGVsbG8"}]}', {"x": [b"hello"]}),
    "lists of bytes": (
        {"x": "string"},
        '{"instances": [[{"b64": "aGVsbG8="}], [{"b64": "d29ybGQ="}]]}',
        {"x": [[b"hello"], [b"world"]]},
    ),
    "named lists of bytes": (
        {"x": "string"},
        '{"instances": [{"x": [[{"b64": "aGVsbG8="}], [{"b64": "d29ybGQ="}]]}]}',
        {"x": [[[b"hello"], [b"world"]]]},
    ),
    "several tensors by rows": (
        _MIXED,
        """{"instances": [
            {"int": [[1,2],[3,4],[5,6]], "str": ["foo", "bar"], "single": [1.0, NaN],
             "double": [NaN]},
            {"int": [[7,8],[9,0],[1,2]], "str": ["baz", "bat"], "single": [2.0, Infinity],
             "double": [2.0]}]}""",
        {
            "int": [_THREE, [[7, 8], [9, 0], [1, 2]]],
            "str": [[b"foo", b"bar"], [b"baz", b"bat"]],
            "single": [[1.0, _NAN], [2.0, _INF]],
            "double": [[_NAN], [2.0]],
        },
    ),
    "one tensor by columns": (
        {"x": "int32"},
        '{"inputs": {"x": [[[1, 2], [3, 4], [5, 6]]]}}',
        {"x": [_THREE]},
    ),
    "one tensor by columns without its name": (
        {"x": "int32"},
        '{"inputs": [[[1, 2], [3, 4], [5, 6]]]}',
        {"x": [_THREE]},
    ),
    "several tensors by columns": (
        {"int": "int32", "str": "string", "bin": "string"},
        '{"inputs": {"int": [[[1, 2], [3, 4], [5, 6]]], "str": ["foo", "bar"], "bin": {"b64": "aGVsbG8="}}}',
        {"int": [_THREE], "str": [b"foo", b"bar"], "bin": b"hello"},
    ),
    "bytes by columns": ({"x": "string"}, '{"inputs": {"b64": "aGVsbG8="}}', {"x": b"hello"}),
    "a scalar by columns": ({"x": "bool"}, '{"inputs": true}', {"x": True}),
    "no rows by columns": ({"x": "float32"}, '{"inputs": []}', {"x": []}),
    "rows of nothing": ({"x": "float32"}, '{"instances": [[], []]}', {"x": [[], []]}),
    "other spellings of what is not finite": (
        {"x": "float32"},
        '{"instances": [-Infinity, Inf, -Inf, -NaN, 1]}',
        {"x": [-_INF, _INF, -_INF, _NAN, 1]},
    ),
    "words in strings": ({"x": "string"}, '{"instances": ["-NaN", "Inf"]}', {"x": [b"-NaN", b"Inf"]}),
    "escapes": (
        {"x": "string"},
        r'{"instances": ["\u00e9\n\"\ud83d\ude00", "日本"]}',
        {"x": ['é\n"😀'.encode(), "日本".encode()]},
    ),
    "the ends of int64": (
        {"x": "int64"},
        '{"instances": [-9223372036854775808, 9223372036854775807]}',
        {"x": [-(2**63), 2**63 - 1]},
    ),
    "the end of uint64": ({"x": "uint64"}, '{"instances": [18446744073709551615]}', {"x": [2**64 - 1]}),
    "a bfloat16": ({"x": "bfloat16"}, '{"instances": [0.5, 3]}', {"x": [0.5, 3]}),
}


@pytest.mark.parametrize("case", REQUESTS)
def test_a_request_is_read(case):
    types, body, expected = REQUESTS[case]
    name, (inputs, by_rows) = _read(types, body)
    assert name == ("predict_images" if "named signature" in case else "")
    assert by_rows == ("column" not in case)
    assert inputs.keys() == expected.keys()
    for key, values in expected.items():
        assert tf.as_dtype(inputs[key].dtype) == tf.as_dtype(types[key])
        wanted = np.array(values, tf.as_dtype(types[key]).as_numpy_dtype)
        np.testing.assert_array_equal(inputs[key], wanted)
        if tf.as_dtype(types[key]).is_floating:
            np.testing.assert_array_equal(
                np.signbit(inputs[key].astype(float)), np.signbit(wanted.astype(float)) & ~np.isnan(wanted)
            )


_TWO = {"int": "int32", "str": "string"}

# A refused request: the types, the body and what the error names.
REFUSED = {
    "an empty body": ({"x": "int32"}, "", "document is empty"),
    "no JSON": ({"x": "int32"}, "instances = [1, 2]", "JSON Parse error: Invalid value.*line 1"),
    "what follows": ({"x": "int32"}, _BODY + "X", "line 1, column 40"),
    "no UTF-8": ({"x": "string"}, b'{"instances": ["\xff"]}', "byte 16"),
    "no object": ({"x": "int32"}, "[1]", "a list of 1"),
    "brackets without an end": ({"x": "int32"}, '{"instances": ' + "[" * 100_000, "JSON Parse error"),
    # Searches of each quote for an end would take an hour.
    "strings without an end": ({"x": "string"}, '{"inputs":' + '"\\' * 2_000_000, "JSON Parse error"),
    "tokens without commas": ({"x": "string"}, '{"inputs": [' + "NaN " * 100_000, "JSON Parse error"),
    "no values for a type": ({"x": "complex64"}, '{"inputs": []}', "inputs: .*complex64"),
    "a number of a signature": (
        {"x": "int32"},
        '{"signature_name": 5, "instances": [1]}',
        "must be a string",
    ),
    "a deep signature": ({"x": "int32"}, f'{{"signature_name": {_DEEP}}}', "key must be a string value"),
    "a deep tensor": ({"x": "int32"}, f'{{"inputs": {_DEEP}}}', "32 axes"),
    "both forms": ({"x": "int32"}, '{"instances": [1], "inputs": [1]}', "'inputs' or 'instances'"),
    "neither form": ({"x": "int32"}, "{}", "'inputs' or 'instances'"),
    "no list of rows": ({"x": "int32"}, '{"instances": 1}', "'instances' to be an? list/array"),
    "no rows": ({"x": "int32"}, '{"instances": []}', "'instances'"),
    "a longer row": (
        {"x": "int32"},
        '{"instances": [[1,2],[3,4],[5,6,7]]}',
        r"instances\[2\] is a list of 3",
    ),
    "a deeper row": (
        {"x": "int32"},
        '{"instances": [[1,2],[3,4],[[5,6]]]}',
        r"instances\[2\] is a list of 1",
    ),
    "a list after a value": ({"x": "int32"}, '{"instances": [1, [1]]}', r"instances\[1\] is a list of 1"),
    "a value after a list": ({"x": "int32"}, '{"instances": [[1], 1]}', r"instances\[1\] is 1,"),
    "strings for integers": (
        {"x": "int32"},
        '{"instances": [[1,2],["a", "b"]]}',
        r'instances\[1\]\[0\] is "a", .*not of expected type: int32',
    ),
    "strings for floats": ({"x": "float32"}, '{"instances": ["x"]}', "not of expected type: float"),
    "a float for integers": ({"x": "int64"}, '{"instances": [1.0]}', "1.0.*expected type: int64"),
    "true for integers": ({"x": "int32"}, '{"instances": [true]}', "true.*expected type: int32"),
    "true for floats": ({"x": "float64"}, '{"instances": [true]}', "true.*expected type: double"),
    "a number for booleans": ({"x": "bool"}, '{"instances": [1]}', "expected type: bool"),
    "null": ({"x": "string"}, '{"instances": [null]}', "null.*expected type: string"),
    "over int32": ({"x": "int32"}, '{"instances": [2147483648]}', "2147483648.*expected type: int32"),
    "over uint8": ({"x": "uint8"}, '{"instances": [3, 256]}', r"\[1\] is 256.*expected type: uint8"),
    "under uint64": ({"x": "uint64"}, '{"instances": [-1]}', "-1.*expected type: uint64"),
    "over int64": ({"x": "int64"}, '{"instances": [9223372036854775808]}', "expected type: int64"),
    "over float64": ({"x": "float64"}, '{"instances": [1e999]}', "1e999.*too large"),
    "many digits": ({"x": "float64"}, f'{{"instances": [{"9" * 4000}]}}', "too large"),
    "more digits": ({"x": "int64"}, f'{{"instances": [{"9" * 5000}]}}', "JSON Parse error"),
    "half a pair": ({"x": "string"}, r'{"instances": ["\\\ud83d\u0041"]}', "surrogate"),
    "half a pair in a name": (
        {"x": "string"},
        r'{"signature_name": "\uDC00", "instances": ["a"]}',
        "surrogate",
    ),
    "other Base64": ({"x": "string"}, '{"instances": [{"b64": "a*"}]}', r"instances\[0\].*base64"),
    "an object of two keys": ({"x": "string"}, '{"inputs": [{"b64": "aGk=", "y": 1}]}', r"inputs\[0\].*b64"),
    "an object for a number": ({"x": "int32"}, '{"instances": [{"b64": "aGk="}]}', "expected type: int32"),
    "complex numbers": ({"x": "complex64"}, '{"instances": [1]}', "complex64"),
    "rows of other axes": (
        _TWO,
        """{"instances": [{"int": [[1,2],[3,4],[5,6]], "str": ["foo", "bar"]},
                          {"int": [[[7,8],[9,0],[1,2]]], "str": ["baz", "bat"]}]}""",
        r"instances\[1\].int is a list of 1",
    ),
    "rows of other lengths": (
        _TWO,
        """{"instances": [{"int": [[1,2],[3,4],[5,6],[7,8]], "str": ["foo", "bar"]},
                          {"int": [[7,8],[9,0],[1,2]], "str": ["baz", "bat"]}]}""",
        r"instances\[1\].int is a list of 3",
    ),
    "a list among objects": (
        _TWO,
        '{"instances": [{"int": 1, "str": "foo"}, [1, 20, 30], {"int": 2, "str": "baz"}]}',
        r"Expecting object but got .*list.*instances\[1\]",
    ),
    "an object among lists": (
        {"str": "string"},
        '{"instances": [["baz", "bar"], {"str": ["baz", "bat"]}]}',
        r"Expecting value/list but got object.*instances\[1\]",
    ),
    "plain rows of two tensors": (_TWO, '{"instances": [1, 2]}', "int, str"),
    "plain columns of two tensors": (_TWO, '{"inputs": [1, 2]}', "int, str"),
    "bytes for two tensors": (_TWO, '{"instances": [{"b64": "aGk="}]}', "int, str"),
    "a missing row": (_TWO, '{"instances": [{"int": 1, "str": "a"}, {"int": 1}]}', r"instances\[1\].*str"),
    "a missing column": (_TWO, '{"inputs": {"int": [1]}}', "Missing named input: str"),
    "another row": (_TWO, '{"instances": [{"int": 1, "sstr": "a"}]}', r"instances\[0\].*sstr; .*mean str"),
    "another column": (_TWO, '{"inputs": {"int": 1, "str": "a", "ints": 1}}', "ints; .*mean int"),
}


# A deep tensor is refused in the same way.
@pytest.mark.parametrize("case", often(REFUSED, REFUSED.keys() - {"a deep signature"}))
def test_a_request_is_refused_by_the_place_of_its_fault(case):
    types, body, named = REFUSED[case]
    with pytest.raises(RequestError, match=named) as error:
        _read(types, body)
    assert error.value.status == 400


_INTS = np.array([[[1, 2], [3, 4], [5, 6]], [[7, 8], [9, 0], [1, 2]]], np.int32)
_STRINGS = np.array([[b"foo", b"bar"], [b"baz", b"bat"]], object)
_RAW = np.array([[b"hello", b"world"], [b"tf", b"serving"]], object)
_RAW_ROWS = ['[{"b64": "aGVsbG8="}, {"b64": "d29ybGQ="}]', '[{"b64": "dGY="}, {"b64": "c2VydmluZw=="}]']
_INT_ROWS = ["[[1, 2], [3, 4], [5, 6]]", "[[7, 8], [9, 0], [1, 2]]"]

# An answer: its tensors, its JSON by rows and its JSON by columns; None where it is refused.
ANSWERS = {
    "one tensor": ({"y": _INTS}, f"[{', '.join(_INT_ROWS)}]", f"[{', '.join(_INT_ROWS)}]"),
    "a value of each row": ({"y": np.arange(1, 6)}, "[1, 2, 3, 4, 5]", "[1, 2, 3, 4, 5]"),
    "bytes": ({"y_bytes": _RAW}, f"[{', '.join(_RAW_ROWS)}]", f"[{', '.join(_RAW_ROWS)}]"),
    "floats of six digits": (
        {"y": np.array([[9000000, 999999, 0.5], [0.0003, 0.00003, 555557.5]], np.float32)},
        "[[9e+06, 999999.0, 0.5], [0.0003, 3e-05, 555557.5]]",
        "[[9e+06, 999999.0, 0.5], [0.0003, 3e-05, 555557.5]]",
    ),
    "what is not finite": (
        {"y": np.array([[_NAN, _INF], [3, -_INF]], np.float32)},
        "[[NaN, Infinity], [3.0, -Infinity]]",
        "[[NaN, Infinity], [3.0, -Infinity]]",
    ),
    "a scalar": ({"y": np.array(3, np.int32)}, None, "3"),
    "several tensors": (
        {
            "double": np.array([8.0, 9.0]),
            "single": np.array([[1], [2]], np.float32),
            "int": _INTS,
            "str": _STRINGS,
            "str_bytes": _RAW,
        },
        f'[{{"double": 8.0, "single": [1.0], "int": {_INT_ROWS[0]}, "str": ["foo", "bar"], "str_bytes": '
        f'{_RAW_ROWS[0]}}}, {{"double": 9.0, "single": [2.0], "int": {_INT_ROWS[1]}, "str": ["baz", "bat"], '
        f'"str_bytes": {_RAW_ROWS[1]}}}]',
        f'{{"double": [8.0, 9.0], "single": [[1.0], [2.0]], "int": [{", ".join(_INT_ROWS)}], '
        f'"str": [["foo", "bar"], ["baz", "bat"]], "str_bytes": [{", ".join(_RAW_ROWS)}]}}',
    ),
    "no rows": ({"y": np.zeros([0, 2], np.int32)}, "[]", "[]"),
    "no rows of several tensors": (
        {"y": np.zeros([0, 1, 2], object), "z": np.zeros([0, 3, 4], np.float32)},
        "[]",
        '{"y": [], "z": []}',
    ),
    "rows of nothing": ({"y": np.zeros([2, 0], np.int32)}, "[[], []]", "[[], []]"),
    "other numbers of rows": (
        {"y": np.zeros([2, 1], np.int32), "z": np.array([[b"foo"]], object)},
        None,
        '{"y": [[0], [0]], "z": [["foo"]]}',
    ),
    "rows and no rows": (
        {"y": np.zeros([0, 2], np.int32), "z": np.array([[b"foo", b"bar"]], object)},
        None,
        '{"y": [], "z": [["foo", "bar"]]}',
    ),
    "booleans": ({"y": np.array([True, False])}, "[true, false]", "[true, false]"),
    "integers of 64 bits": (
        {"y": np.array([2**64 - 1], np.uint64)},
        "[18446744073709551615]",
        "[18446744073709551615]",
    ),
    "half floats": ({"y": np.array([0.5, 3], np.float16)}, "[0.5, 3.0]", "[0.5, 3.0]"),
    "escapes": (
        {'y"\n': np.array([b'"\\\n\x01\xc3\xa9'], object)},
        r'["\"\\\n\u0001é"]',
        r'["\"\\\n\u0001é"]',
    ),
    "strings that are not UTF-8": (
        {"y": np.array([b"\xff"], object)},
        '[{"b64": "/w=="}]',
        '[{"b64": "/w=="}]',
    ),
    "names with quotes": (
        {'"': np.array([1]), "z": np.array([2])},
        r'[{"\"": 1, "z": 2}]',
        r'{"\"": [1], "z": [2]}',
    ),
}


@pytest.mark.parametrize("by_rows", [True, False], ids=["rows", "columns"])
@pytest.mark.parametrize("case", ANSWERS)
def test_an_answer_is_written(case, by_rows):
    outputs, rows, columns = ANSWERS[case]
    expected = rows if by_rows else columns
    if expected is None:
        with pytest.raises(RequestError, match=f"Tensor name: {list(outputs)[-1]} has .*'inputs'"):
            predict_text(outputs, by_rows)
        return
    text = predict_text(outputs, by_rows)
    assert text == f'{{"{"predictions" if by_rows else "outputs"}": {expected}}}'
    json.loads(text)


def test_tensors_without_json_are_refused():
    with pytest.raises(RequestError, match="empty tensor map"):
        predict_text({}, True)
    with pytest.raises(RequestError, match=r"y: .*tensor type: complex64"):
        predict_text({"y": np.zeros(2, np.complex64)}, True)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_floats_are_read_back_as_they_were(dtype):
    bits = np.random.default_rng(0).integers(0, 2**63, 4000, np.uint64).view(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        values = np.concatenate([bits.astype(dtype), np.linspace(-1, 1, 999, dtype=dtype)])
    text = predict_text({"y": values}, False)
    (found,) = json.loads(text).values()
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(np.array(found).astype(dtype), values)
    assert all("." in token or "e" in token for token in re.findall(r"-?[0-9][^,\]]*", text))
    assert any(map(math.isinf, found)) == bool(np.isinf(values).any())
