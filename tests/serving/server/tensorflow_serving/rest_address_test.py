"""Addresses of TF Serving's REST: the cases of its own tests."""

import pytest

from firth.serving.server.errors import RequestError
from firth.serving.server.tensorflow_serving.rest import Address, read_address

_CODED = "%21%23%24%25%26%27%28%29%2A%2B%2C%2F%3A%3B%3D%3F%40%5B%5D"
_PLAIN = "!#$%&'()*+,/:;=?@[]"

READ = [
    ("GET", f"/v1/models/name{_CODED}", Address(f"name{_PLAIN}")),
    ("GET", "/v1/models/name/versions/99", Address("name", 99)),
    ("GET", "/v1/models/name/labels/latest", Address("name", None, "latest")),
    ("GET", f"/v1/models/name/labels/latest{_CODED}", Address("name", None, f"latest{_PLAIN}")),
    ("GET", "/v1/models/name/labels/latest/metadata", Address("name", None, "latest", "metadata")),
    (
        "GET",
        f"/v1/models/name{_CODED}/labels/latest{_CODED}/metadata",
        Address(f"name{_PLAIN}", None, f"latest{_PLAIN}", "metadata"),
    ),
    ("POST", f"/v1/models/name{_CODED}:predict", Address(f"name{_PLAIN}", verb="predict")),
    ("POST", "/v1/models/name/versions/99:classify", Address("name", 99, None, "classify")),
    ("POST", f"/v1/models/name/versions/{2**63 - 1}:predict", Address("name", 2**63 - 1, None, "predict")),
    ("POST", "/v1/models/name/labels/latest:regress", Address("name", None, "latest", "regress")),
    (
        "POST",
        f"/v1/models/name{_CODED}/labels/latest{_CODED}:predict",
        Address(f"name{_PLAIN}", None, f"latest{_PLAIN}", "predict"),
    ),
]


@pytest.mark.parametrize("method, path, expected", READ)
def test_an_address_is_read(method, path, expected):
    assert read_address(method, path) == expected


REFUSED = [
    ("GET", "/v1/foo", "Malformed request: GET /v1/foo"),
    ("POST", "/v1/foo", "Malformed request"),
    ("GET", "/v1/models", "Missing model name"),
    ("POST", "/v1/models", "Malformed request"),
    ("GET", "/v1/models/debug/model_name", "Malformed request"),
    ("GET", "/v1/models/foo:predict", "Malformed request"),
    ("GET", "/v1/models/foo/version/50:predict", "Malformed request"),
    ("POST", "/v1/models/foo/version/50:regress", "Malformed request"),
    ("POST", "/v1/models/foo/versions/HELLO:regress", "Malformed request"),
    ("POST", f"/v1/models/foo/versions/{2**63}:regress", "Failed to convert version"),
    ("POST", f"/v1/models/foo/versions/{'9' * 10_000}:regress", "Failed to convert version"),
    ("POST", "/v1/models/foo/metadata", "Malformed request"),
    ("POST", "/v1/models/foo/label/some_label:regress", "Malformed request"),
    ("POST", "/v1/models/foo/versions/50/labels/some_label:regress", "Malformed request"),
    ("POST", "/v1/models/foo/versions/some_label:regress", "Malformed request"),
    ("POST", "/v1/models/%ff:predict", "%ff"),
]


@pytest.mark.parametrize("method, path, named", REFUSED)
def test_other_addresses_are_refused(method, path, named):
    with pytest.raises(RequestError, match=named):
        read_address(method, path)
