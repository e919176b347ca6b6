"""The notice that a machine is taken away, from a metadata server of the test's own."""

import http.server
import threading
from unittest import mock

import pytest

from firth.training.termination import (
    HOST_VARIABLE,
    metadata_host,
    termination_deferred,
    watching_maintenance,
)

WAIT = 20


class MetadataServer(http.server.ThreadingHTTPServer):
    """Answers as Compute Engine's does: at once, or, if asked to wait for a change, when it has changed."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Metadata)
        self.values = {"maintenance-event": "NONE", "preempted": "FALSE"}
        self.changed = threading.Condition()
        self.waiting = dict.fromkeys(self.values, 0)
        self.failures = 0

    def change(self, key: str, value: str) -> None:
        with self.changed:
            self.values[key] = value
            self.changed.notify_all()

    def wait_until_watched(self, key: str, times: int = 1) -> None:
        with self.changed:
            assert self.changed.wait_for(lambda: self.waiting[key] >= times, WAIT)


class Metadata(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        server = self.server
        assert isinstance(server, MetadataServer)
        path, _, query = self.path.partition("?")
        key = path.removeprefix("/computeMetadata/v1/instance/")
        with server.changed:
            if server.failures:
                server.failures -= 1
                if server.failures % 2:
                    self.wfile.write(b"no HTTP\r\n\r\n")
                else:
                    self.send_error(503)
                return
            assert self.headers["Metadata-Flavor"] == "Google"
            if "wait_for_change=true" in query:
                told = query.rpartition("last_etag=")[2]
                server.waiting[key] += 1
                server.changed.notify_all()
                server.changed.wait_for(lambda: server.values[key] != told, WAIT)
            value = server.values[key]
        self.send_response(200)
        self.send_header("ETag", value)
        self.end_headers()
        self.wfile.write(value.encode())

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def server(monkeypatch):
    with MetadataServer() as found:
        thread = threading.Thread(target=found.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        monkeypatch.setenv(HOST_VARIABLE, f"127.0.0.1:{found.server_port}")
        yield found
        for key in found.values:
            found.change(key, "ended")
        found.shutdown()


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        ("maintenance-event", "TERMINATE_ON_HOST_MAINTENANCE", "maintenance of its host"),
        ("preempted", "TRUE", "preemption"),
    ],
)
def test_a_training_ends_when_the_machine_is_taken_away(server, caplog, key, value, says):
    with termination_deferred() as termination:
        server.wait_until_watched(key)
        assert not termination.is_set()
        server.change(key, value)
        assert termination.wait(WAIT)
    assert [record.message for record in caplog.records] == [
        f"this machine is about to be taken away: {says}"
    ]


def test_a_machine_that_is_migrated_goes_on(server):
    with termination_deferred() as termination:
        server.wait_until_watched("maintenance-event")
        server.change("maintenance-event", "MIGRATE_ON_HOST_MAINTENANCE")
        server.wait_until_watched("maintenance-event", times=2)
        assert not termination.is_set()


def test_a_server_that_does_not_answer_is_asked_again(server):
    server.failures = 3
    with mock.patch("firth.training.termination._RETRY", 0.01), termination_deferred() as termination:
        server.wait_until_watched("preempted")
        server.change("preempted", "TRUE")
        assert termination.wait(WAIT)


def test_no_proxy_is_asked(server, monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.delenv("no_proxy", raising=False)
    with termination_deferred() as termination:
        server.change("preempted", "TRUE")
        assert termination.wait(WAIT)


def test_nothing_is_asked_on_another_machine(monkeypatch, tmp_path):
    monkeypatch.delenv(HOST_VARIABLE, raising=False)
    products = {"Google Compute Engine\n": "metadata.google.internal", "Standard PC\n": ""}
    for product, host in products.items():
        (tmp_path / "product_name").write_text(product)
        monkeypatch.setattr("firth.training.termination._PRODUCT_NAME", str(tmp_path / "product_name"))
        assert metadata_host() == host
    with mock.patch("threading.Thread") as thread, watching_maintenance(threading.Event()):
        assert not thread.called
