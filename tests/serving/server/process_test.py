"""A server in a thread of its own, asked over HTTP and gRPC as a stranger does."""

import threading

import grpc
import httpx
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from firth.serving.server.announcements import TOKEN_VARIABLE, server_of
from firth.serving.server.process import ServerError, ServerProcess
from firth.serving.server.settings import ServerSettings
from firth.serving.server.sources import ModelSource
from tests.serving.server.models_test import save_plain

TOKEN = "a-token"
HEADERS = {"Authorization": f"Bearer {TOKEN}"}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("served") / "tiny"
    save_plain(folder / "1")
    settings = ServerSettings(port=0, grpc_port=0, token=TOKEN, max_request_bytes=1000, reload_seconds=0)
    made = ServerProcess([ModelSource("tiny", str(folder))], settings)
    thread = threading.Thread(target=made.run)
    thread.start()
    yield made
    made.stop()
    thread.join()


def test_health_metrics_and_refusals(server, monkeypatch):
    with httpx.Client(base_url=server.address, headers=HEADERS) as client:
        assert httpx.get(f"{server.address}/healthz").status_code == 200
        ready = client.get("/readyz", headers={"X-Request-Id": "mine"})
        assert ready.json() == {"status": "ok", "models": ["tiny"]}
        assert ready.headers["x-request-id"] == "mine"
        assert httpx.get(f"{server.address}/metrics").status_code == 401
        assert client.post("/metrics", content=b"x" * 1001).status_code == 413
        for path, status in (("/nowhere", 404), ("/v1/completions", 405), ("/tokenize", 405)):
            refused = client.get(path)
            assert refused.status_code == status and path in refused.json()["error"]["message"]
        text = client.get("/metrics").text
    assert 'status="401"} 1.0' in text and 'status="413"} 1.0' in text
    assert 'firth_queued_rows{model="tiny",version="1"} 0.0' in text
    # Commands find it by its file.
    monkeypatch.setenv(TOKEN_VARIABLE, TOKEN)
    assert server_of(server.models.loaded[0].path).address == server.address


def test_grpc_health_is_open_and_ports_are_not_shared(server):
    with grpc.insecure_channel(f"127.0.0.1:{server.grpc_port}") as channel:
        found = health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest())
    assert found.status == health_pb2.HealthCheckResponse.SERVING
    with pytest.raises(ServerError, match=f"port {server.port} .* is taken"):
        ServerProcess([], ServerSettings(port=server.port))
    with pytest.raises(ServerError, match=f"port {server.grpc_port} .* is taken"):
        # Before a model is looked for.
        ServerProcess([ModelSource("m", "none")], ServerSettings(port=0, grpc_port=server.grpc_port))


@pytest.mark.parametrize(
    "settings, named",
    [
        ({"tls_certificate": "no.pem"}, "together"),
        ({"tls_certificate": "no.pem", "tls_key": "no.key"}, "No such file"),
        ({"host": "no.such.host.invalid"}, "no.such.host.invalid"),
    ],
)
def test_what_cannot_start_says_why(settings, named):
    with pytest.raises(ServerError, match=named):
        ServerProcess([], ServerSettings(port=0, **settings))


def test_models_that_cannot_be_served(tmp_path):
    for folder, named in (("none", "no folder"), (".", "no version")):
        with pytest.raises(ServerError, match=named):
            ServerProcess([ModelSource("m", str(tmp_path / folder))], ServerSettings(port=0))
    (tmp_path / "m" / "1").mkdir(parents=True)
    (tmp_path / "m" / "1" / "saved_model.pb").write_bytes(b"half of")
    with pytest.raises(ServerError, match="m/1"):
        ServerProcess([ModelSource("m", str(tmp_path / "m"))], ServerSettings(port=0))
