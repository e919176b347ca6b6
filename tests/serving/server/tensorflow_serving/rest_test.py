"""TF Serving's REST: the cases of its own test of the handler, on a model of the same shape."""

import json

import openai
import pytest
from starlette.testclient import TestClient

from firth.serving.server.app import make_app
from firth.serving.server.models import Models
from firth.serving.server.settings import ServerSettings
from firth.serving.server.sources import ModelSource
from tests.serving.server.tensorflow_serving.half_plus_two import write_half_plus_two

MODEL = "/v1/models/half_plus_two"


@pytest.fixture(scope="module")
def client(made_once):
    folder = made_once("half_plus_two", write_half_plus_two)
    settings = ServerSettings()
    models = Models([ModelSource("half_plus_two", str(folder), labels={"a+/label": 123})], settings)
    with TestClient(make_app(models, settings)) as client:
        yield client
    models.close()


# A request: its path, its body and the answer.
ANSWERED = {
    "the newest version": (
        ":predict",
        '{"instances": [[1.0, 2.0], [3.0, 4.0]]}',
        '{"predictions": [[2.5, 3.0], [3.5, 4.0]]}',
    ),
    "a version": ("/versions/123:predict", '{"instances": [1.0, 2.0]}', '{"predictions": [2.5, 3.0]}'),
    "a label": ("/labels/a%2B%2Flabel:predict", '{"instances": [1.0, 2.0]}', '{"predictions": [2.5, 3.0]}'),
    "a signature": (
        "/versions/123:predict",
        '{"signature_name": "serving_default", "instances": [3.0, 4.0]}',
        '{"predictions": [3.5, 4.0]}',
    ),
    "columns": (
        "/versions/123:predict",
        '{"signature_name": "serving_default", "inputs": [3.0, 4.0]}',
        '{"outputs": [3.5, 4.0]}',
    ),
    "what is not finite": (
        ":predict",
        '{"instances": [NaN, -Infinity]}',
        '{"predictions": [NaN, -Infinity]}',
    ),
    "a scalar": (":predict", '{"inputs": 6}', '{"outputs": 5.0}'),
    "rows of two tensors": (
        ":predict",
        """{"signature_name": "rows",
            "instances": [{"x": [1, 2], "key_bytes": {"b64": "/w=="}}, {"x": [3, 4], "key_bytes": "b"}]}""",
        """{"predictions": [{"y": 3.0, "key_bytes": {"b64": "/w=="}},
                            {"y": 7.0, "key_bytes": {"b64": "Yg=="}}]}""",
    ),
    "columns of three tensors": (
        ":predict",
        '{"signature_name": "keyed", "inputs": {"x": [[1, 2]], "key_bytes": ["a"], "count": 1}}',
        '{"outputs": {"y": [[2.5, 3.0]], "key_bytes": [{"b64": "YQ=="}], "next": 2}}',
    ),
    "a large body": (
        ":predict",
        json.dumps({"instances": [2.0] * 20_000}),
        json.dumps({"predictions": [3.0] * 20_000}),
    ),
    "regression": (
        ":regress",
        '{"signature_name": "regress_x_to_y", "examples": [{"x": 80.0}]}',
        '{"results": [42.0]}',
    ),
    "regression of a version": (
        "/versions/123:regress",
        '{"signature_name": "regress_x_to_y", "examples": [{"x": 80.0}]}',
        '{"results": [42.0]}',
    ),
    "regression of a label": (
        "/labels/a%2B%2Flabel:regress",
        '{"signature_name": "regress_x_to_y", "context": {"x": 80.0}, "examples": [{}, {"x": 1.0}]}',
        '{"results": [42.0, 2.5]}',
    ),
    "classes": (
        ":classify",
        '{"signature_name": "classify_x_to_y", "examples": [{"x": 20.0}]}',
        '{"results": [[["", 12.0]]]}',
    ),
    "classes of a label": (
        "/labels/a%2B%2Flabel:classify",
        '{"signature_name": "classify_x_to_y", "examples": [{"x": 10.0}]}',
        '{"results": [[["", 7.0]]]}',
    ),
    "classes with names": (
        ":classify",
        '{"signature_name": "classify_sign", "examples": [{"x": -2.0}, {"x": 0.5}]}',
        '{"results": [[["negative", 2.0]], [["positive", 0.5]]]}',
    ),
}


@pytest.mark.parametrize("case", ANSWERED)
def test_a_request_is_answered(case, client):
    path, body, expected = ANSWERED[case]
    response = client.post(MODEL + path, content=body)
    assert response.status_code == 200, response.text
    assert response.headers["content-type"] == "application/json"
    # NaN is no equal of itself.
    kept = {"parse_constant": str}
    found, wanted = json.loads(response.text, **kept), json.loads(expected, **kept)
    assert found == wanted
    assert list(found) == list(wanted)


# A refused request: its method, path, body, status and what the error names.
REFUSED = {
    "no verb": ("POST", "half_plus_two", "", 400, "Malformed request: POST"),
    "a verb of GET": ("GET", "half_plus_two:predict", "", 400, "Malformed request: GET"),
    "an unknown model": ("POST", "half_plus_to:predict", '{"instances": [1]}', 404, "mean half_plus_two"),
    "a version of it": (
        "POST",
        "half_plus_to/versions/50:predict",
        '{"instances": [1]}',
        404,
        "half_plus_two",
    ),
    "a name with a version": ("POST", "half_plus_two99:predict", '{"instances": [1]}', 404, "half_plus_two"),
    "a path for a name": (
        "POST",
        "..%2F..%2Fhalf_plus_two:predict",
        '{"instances": [1]}',
        404,
        "half_plus_two",
    ),
    "an unknown version": ("POST", "half_plus_two/versions/99:predict", '{"instances": [1]}', 404, "99"),
    "a version over 64 bits": ("POST", f"half_plus_two/versions/{2**64 - 1}:predict", "{}", 400, "version"),
    "an unknown label": ("POST", "half_plus_two/labels/canary:predict", '{"instances": [1]}', 400, "canary"),
    "the status of an unknown model": ("GET", "half_plus_to", "", 404, "half_plus_two"),
    "the status of an unknown version": ("GET", "half_plus_two/versions/99", "", 404, "99"),
    "the metadata of an unknown model": ("GET", "half_plus_to/metadata", "", 404, "half_plus_two"),
    "an empty body": ("POST", "half_plus_two:predict", "", 400, "The document is empty"),
    "no JSON": (
        "POST",
        "half_plus_two:predict",
        "instances = [1, 2]",
        400,
        "JSON Parse error: Invalid value",
    ),
    "strings": (
        "POST",
        "half_plus_two:predict",
        '{"instances": ["x", "y"]}',
        400,
        "not of expected type: float",
    ),
    "a number of a signature": (
        "POST",
        "half_plus_two:predict",
        '{"signature_name": 100}',
        400,
        "'signature_name' key must be a string value",
    ),
    "a signature with half of a surrogate pair": (
        "POST",
        "half_plus_two:predict",
        r'{"signature_name": "\ud800", "instances": [1]}',
        400,
        "surrogate",
    ),
    "a long body": ("POST", "half_plus_two:predict", " " * 5_000_000, 413, "bytes"),
    "an unknown signature": (
        "POST",
        "half_plus_two:predict",
        '{"signature_name": "regres_x_to_y", "instances": [1]}',
        400,
        "mean regress_x_to_y",
    ),
    "another shape": (
        "POST",
        "half_plus_two:predict",
        '{"signature_name": "rows", "inputs": {"x": [1], "key_bytes": ["a"]}}',
        400,
        "x: shape [1], not [?, 2]",
    ),
    "rows of outputs without rows": (
        "POST",
        "half_plus_two:predict",
        '{"signature_name": "keyed", "instances": [{"x": [1, 2], "key_bytes": "a", "count": 1}]}',
        400,
        "count: shape [1], not []",
    ),
    "a signature without examples": (
        "POST",
        "half_plus_two:classify",
        '{"examples": [{"x": 1.0}]}',
        400,
        "classify_sign, classify_x_to_y",
    ),
    "a signature of regression": (
        "POST",
        "half_plus_two:classify",
        '{"signature_name": "regress_x_to_y", "examples": [{"x": 1.0}]}',
        400,
        "classes, scores",
    ),
    "an example without a feature": (
        "POST",
        "half_plus_two:regress",
        '{"signature_name": "regress_x_to_y", "examples": [{}]}',
        400,
        "Feature: x",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_request_is_refused(case, client):
    method, path, body, status, named = REFUSED[case]
    response = client.request(method, f"/v1/models/{path}", content=body)
    assert response.status_code == status, response.text
    assert list(response.json()) == ["error"]
    assert named in response.json()["error"]


@pytest.mark.parametrize("path", ["", "/versions/123", "/labels/a%2B%2Flabel"])
def test_the_status_of_a_model(path, client):
    response = client.get(MODEL + path)
    assert response.headers["content-type"] == "application/json"
    assert response.json() == {
        "model_version_status": [
            {
                "version": "123",
                "state": "AVAILABLE",
                "status": {"error_code": "OK", "error_message": ""},
            }
        ]
    }


def test_the_status_of_a_model_is_a_card_too_for_clients_of_openai(client):
    """Which read their own keys; to all others the answer is the golden one."""
    plain = client.get(MODEL).json()
    asking = openai.OpenAI(base_url=f"{client.base_url}/v1", api_key="-", http_client=client, max_retries=0)
    found = asking.models.retrieve("half_plus_two")
    assert (found.id, found.object, found.owned_by) == ("half_plus_two", "model", "firth")
    assert [each.id for each in asking.models.list()] == ["half_plus_two"]
    assert found.created > 1_700_000_000
    both = client.get(MODEL, headers={"user-agent": "OpenAI/Python 1.0"}).json()
    assert both == {**plain, **both} and both["id"] == "half_plus_two"
    one = client.get(f"{MODEL}/versions/123", headers={"user-agent": "OpenAI/Python 1.0"}).json()
    assert one == plain
    with pytest.raises(openai.NotFoundError, match="half_plus_two"):
        asking.models.retrieve("half_plus_to")


def _tensor(dtype, sizes):
    dimensions = [{"size": str(size), "name": ""} for size in sizes or []]
    return {"dtype": dtype, "tensor_shape": {"dim": dimensions, "unknown_rank": sizes is None}}


@pytest.mark.parametrize("path", ["", "/versions/123", "/labels/a%2B%2Flabel"])
def test_the_metadata_of_a_model(path, client):
    found = client.get(f"{MODEL}{path}/metadata").json()
    assert found["model_spec"] == {"name": "half_plus_two", "signature_name": "", "version": "123"}
    signatures = found["metadata"]["signature_def"]["signature_def"]
    assert {"serving_default", "regress_x_to_y", "classify_x_to_y"} <= signatures.keys()
    for name, inputs, outputs in [
        ("serving_default", {"x": _tensor("DT_FLOAT", None)}, {"y": _tensor("DT_FLOAT", None)}),
        ("regress_x_to_y", {"inputs": _tensor("DT_STRING", [-1])}, {"outputs": _tensor("DT_FLOAT", [-1, 1])}),
        ("classify_x_to_y", {"inputs": _tensor("DT_STRING", [-1])}, {"scores": _tensor("DT_FLOAT", [-1, 1])}),
    ]:
        signature = signatures[name]
        assert signature["method_name"] == "tensorflow/serving/predict"
        for side, expected in (("inputs", inputs), ("outputs", outputs)):
            for tensor in signature[side].values():
                assert tensor.pop("name").partition(":")[2].isdecimal()
            assert signature[side] == expected
