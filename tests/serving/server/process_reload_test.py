"""Versions are pushed while a server is asked, and its end finishes what was taken."""

import concurrent.futures
import contextlib
import shutil
import threading
import time

import grpc
import httpx
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from starlette.responses import JSONResponse
from starlette.routing import Route

from firth.serving.server.process import ServerProcess
from firth.serving.server.settings import ServerSettings
from firth.serving.server.sources import ModelSource
from firth.serving.slots.batcher import SlotPrompt
from tests.serving.slots.models import copy_of_exported

FREE = {"port": 0, "grpc_port": 0, "reload_seconds": 0.2}


def _rooms(models, settings):
    async def write(request):
        with models.lease("tiny") as version:
            stream = version.slots.submit(SlotPrompt("a", {"max_new_tokens": 2}))
            texts = [each async for each in stream]
        return JSONResponse({"version": version.version, "text": texts[-1].text})

    return [Route("/write", write)]


@contextlib.contextmanager
def _running(path, **settings):
    server = ServerProcess([ModelSource("tiny", str(path))], ServerSettings(**FREE | settings), (_rooms,))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        yield server
    finally:
        server.stop()
        thread.join()


@contextlib.contextmanager
def _asked_again(client, answers):
    """Asks again and again from three threads, as clients do that know nothing of versions."""
    ended = threading.Event()

    def ask():
        # Without a pause they would take what the next version is loaded with.
        while not ended.wait(0.2):
            answers.append(client.get("/write"))

    with concurrent.futures.ThreadPoolExecutor(3) as threads:
        asking = [threads.submit(ask) for _ in range(3)]
        try:
            yield
        finally:
            ended.set()
        for each in asking:
            each.result()


def _wait_for(condition):
    ends = time.monotonic() + 120
    while not condition():
        # A test that waits for ever ends no check.
        assert time.monotonic() < ends
        time.sleep(0.05)


def test_a_newer_version_is_taken_without_a_failed_request_and_a_broken_one_is_not(made_once, tmp_path):
    folder = tmp_path / "tiny"
    model = copy_of_exported(made_once, folder / "1")
    with _running(folder, token="secret") as server:
        client = httpx.Client(base_url=server.address, headers={"authorization": "Bearer secret"}, timeout=60)
        _wait_for(lambda: client.get("/readyz").status_code == 200)
        answers = []
        with _asked_again(client, answers):
            # It has a graph and no weights, until they come too.
            (folder / "2").mkdir()
            shutil.copy(folder / "1" / "saved_model.pb", folder / "2")
            _wait_for(lambda: any(each.error_code for each in server.models.status("tiny")))
            assert str(folder / "2") in server.models.status("tiny", 2)[0].error_message
            shutil.copytree(model, folder / "2", dirs_exist_ok=True)
            _wait_for(lambda: answers[-1:] and answers[-1].json()["version"] == 2)
        assert {each.status_code for each in answers} == {200}
        assert {each.json()["version"] for each in answers} == {1, 2}
        assert len({each.json()["text"] for each in answers}) == 1
        _wait_for(lambda: server.models.status("tiny", 1)[0].state == "END")
        assert [each.state for each in server.models.status("tiny")] == ["AVAILABLE", "END"]
        text = client.get("/metrics").text
        assert 'firth_first_token_seconds_count{model="tiny"}' in text
        assert 'firth_active_slots{model="tiny",version="2"} 0.0' in text
        assert httpx.get(f"{server.address}/metrics").status_code == 401
        with grpc.insecure_channel(f"127.0.0.1:{server.grpc_port}") as channel:
            answer = health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest())
            assert answer.status == health_pb2.HealthCheckResponse.SERVING
        # What was taken is finished.
        with concurrent.futures.ThreadPoolExecutor(1) as threads:
            last = threads.submit(client.get, "/write")
            _wait_for(lambda: last.done() or server.models._held["tiny"][2].leases)
            server.stop()
            assert last.result().status_code == 200
    with pytest.raises(httpx.ConnectError):
        client.get("/healthz")
