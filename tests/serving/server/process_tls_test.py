"""A server over TLS with a token, asked over HTTP and gRPC; every call is a line of the log."""

import datetime
import io
import ipaddress
import json
import shutil
import ssl
import threading

import grpc
import httpx
import openai
import pytest
import tensorflow as tf
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from tensorflow_serving.apis import (
    get_model_status_pb2,
    model_service_pb2_grpc,
    predict_pb2,
    prediction_service_pb2_grpc,
)

from firth.serving.server.logs import log_to_stream
from firth.serving.server.process import ServerProcess
from firth.serving.server.settings import ServerSettings
from firth.serving.server.sources import ModelSource
from tests.serving.server.openai.served import cold_encoder

NAME, TOKEN = "tiny", "a-token"
BEARER = (("authorization", f"Bearer {TOKEN}"), ("x-request-id", "mine"))


def certificate_files(folder) -> tuple[str, str]:
    """Returns the files of a certificate of this machine, signed by its own key, and of the key."""
    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name([])
    now = datetime.datetime.now(datetime.timezone.utc)
    address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([address]), critical=True)
        .sign(key, hashes.SHA256())
    )
    of_key = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    files = {"certificate.pem": made.public_bytes(of_key[0]), "key.pem": key.private_bytes(*of_key)}
    for each, content in files.items():
        (folder / each).write_bytes(content)
    return tuple(str(folder / each) for each in files)


@pytest.fixture(scope="module")
def served(made_once, tmp_path_factory):
    folder, lines = tmp_path_factory.mktemp("served"), io.StringIO()
    shutil.copytree(cold_encoder(made_once), folder / NAME / "1")
    certificate, key = certificate_files(folder)
    settings = ServerSettings(
        port=0, grpc_port=0, token=TOKEN, tls_certificate=certificate, tls_key=key, reload_seconds=0
    )
    server = ServerProcess([ModelSource(NAME, str(folder / NAME))], settings)
    log_to_stream(lines)
    thread = threading.Thread(target=server.run)
    thread.start()
    yield server, certificate, lambda: [json.loads(each) for each in lines.getvalue().splitlines()]
    server.stop()
    thread.join()
    log_to_stream()


@pytest.fixture
def channel(served):
    server, certificate, _ = served
    with open(certificate, "rb") as file:
        credentials = grpc.ssl_channel_credentials(file.read())
    with grpc.secure_channel(f"127.0.0.1:{server.grpc_port}", credentials) as channel:
        yield channel


def test_http_over_tls(served):
    server, certificate, lines = served
    assert server.address == f"https://127.0.0.1:{server.port}"
    trusted = ssl.create_default_context(cafile=certificate)
    with httpx.Client(base_url=server.address, verify=trusted) as http:
        assert http.get("/healthz").status_code == 200
        assert http.get(f"/v1/models/{NAME}").status_code == 401
        client = openai.OpenAI(
            base_url=f"{server.address}/v1", api_key=TOKEN, http_client=http, max_retries=0
        )
        made = client.embeddings.create(model=NAME, input="the cat")
        assert made.usage.prompt_tokens > 0
        with pytest.raises(openai.AuthenticationError):
            client.with_options(api_key="another").models.list()
    with pytest.raises(httpx.ConnectError, match="CERTIFICATE_VERIFY_FAILED"):
        httpx.get(f"{server.address}/healthz")
    with pytest.raises(httpx.HTTPError):
        httpx.get(f"http://127.0.0.1:{server.port}/healthz")
    assert {"/v1/embeddings", "/healthz"} <= {each.get("route") for each in lines()}
    assert "the cat" not in json.dumps(lines())


def test_grpc_over_tls_with_a_token_is_logged(served, channel):
    _, _, lines = served
    asked = get_model_status_pb2.GetModelStatusRequest()
    asked.model_spec.name = NAME
    models = model_service_pb2_grpc.ModelServiceStub(channel)
    found, call = models.GetModelStatus.with_call(asked, metadata=BEARER)
    assert [each.version for each in found.model_version_status] == [1]
    assert dict(call.trailing_metadata())["x-request-id"] == "mine"
    for metadata in ((), (("authorization", "Bearer another"),), (("authorization", TOKEN),)):
        with pytest.raises(grpc.RpcError) as refused:
            models.GetModelStatus(asked, metadata=metadata)
        assert refused.value.code() == grpc.StatusCode.UNAUTHENTICATED
    prediction, request = (
        prediction_service_pb2_grpc.PredictionServiceStub(channel),
        predict_pb2.PredictRequest(),
    )
    request.model_spec.name, request.model_spec.signature_name = NAME, "embed"
    request.inputs["text"].CopyFrom(_strings(b"the cat"))
    assert prediction.Predict(request, metadata=BEARER).outputs["embedding"].float_val
    request.model_spec.signature_name = "none"
    with pytest.raises(grpc.RpcError):
        prediction.Predict(request, metadata=BEARER)
    calls = [each for each in lines() if each.get("protocol") == "grpc"]
    assert [(each["route"].rpartition("/")[2], each["status"]) for each in calls] == [
        ("GetModelStatus", "OK"),
        *[("GetModelStatus", "UNAUTHENTICATED")] * 3,
        ("Predict", "OK"),
        ("Predict", calls[-1]["status"]),
    ]
    assert calls[-1]["status"] in ("INVALID_ARGUMENT", "FAILED_PRECONDITION", "NOT_FOUND")
    assert calls[0]["request_id"] == "mine" and all(each["seconds"] >= 0 for each in calls)
    assert TOKEN not in json.dumps(lines()) and "the cat" not in json.dumps(lines())


def test_a_call_without_tls_is_not_answered(served):
    server, _, _ = served
    asked = get_model_status_pb2.GetModelStatusRequest()
    address = f"127.0.0.1:{server.grpc_port}"
    with grpc.insecure_channel(address) as channel, pytest.raises(grpc.RpcError) as refused:
        model_service_pb2_grpc.ModelServiceStub(channel).GetModelStatus(asked, timeout=5)
    assert refused.value.code() == grpc.StatusCode.UNAVAILABLE


def _strings(*values):
    return tf.make_tensor_proto(list(values))
