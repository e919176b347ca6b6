"""Each request has an id, limits, a count, and a line in the log without its text."""

import asyncio
import io
import json
import threading

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, StreamingResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from firth.serving.server.logs import log_to_stream
from firth.serving.server.metrics import Metrics
from firth.serving.server.requests import RequestMiddleware
from firth.serving.server.settings import ServerSettings

SETTINGS = ServerSettings(max_request_bytes=64, request_seconds=0.2, token="a secret")
BEARER = {"authorization": "Bearer a secret"}


def _client(ended=None):
    async def echo(request: Request):
        return JSONResponse({"bytes": len(await request.body())})

    async def slow(request: Request):
        await request.body()
        try:
            await asyncio.sleep(60)
        finally:
            if ended is not None:
                ended.set()

    async def broken(request: Request):
        raise KeyError((await request.body()).decode())

    async def stream(request: Request):
        async def parts():
            for each in range(4):
                await asyncio.sleep(0.1)
                yield f"{each}"

        return StreamingResponse(parts())

    handlers = {"echo": echo, "slow": slow, "broken": broken, "stream": stream}
    routes = [Route(f"/{name}/{{rest}}", each, methods=["POST"]) for name, each in handlers.items()]
    metrics = Metrics()
    wrapped = Middleware(RequestMiddleware, settings=SETTINGS, metrics=metrics)
    return TestClient(Starlette(routes=[*routes, Route("/healthz", echo)], middleware=[wrapped])), metrics


@pytest.fixture
def lines():
    stream = io.StringIO()
    log_to_stream(stream)
    yield lambda: [json.loads(each) for each in stream.getvalue().splitlines()]
    log_to_stream()


def test_requests_are_counted_by_route_and_logged_without_texts(lines):
    client, metrics = _client()
    given = client.post("/echo/secret-1", content="a text", headers={**BEARER, "x-request-id": "mine-1"})
    assert given.json() == {"bytes": 6} and given.headers["x-request-id"] == "mine-1"
    made = client.post("/broken/a", content="a text", headers={**BEARER, "x-request-id": "not\x7fplain"})
    assert made.status_code == 500 and made.headers["x-request-id"] in made.json()["error"]["message"]
    assert client.post("/none/a", headers=BEARER).status_code == 404
    text = metrics.text().decode()
    for route, status in (("/echo/{rest}", 200), ("/broken/{rest}", 500), ("unknown", 404)):
        assert f'firth_requests_total{{route="{route}",status="{status}"}} 1.0' in text
    logged = lines()
    assert [(each["event"], each.get("status")) for each in logged] == [
        ("request", 200),
        ("failure", None),
        ("request", 500),
        ("request", 404),
    ]
    assert logged[0]["request_id"] == "mine-1" and logged[1]["error"] == "KeyError"
    assert "a text" not in json.dumps(logged) and "secret" not in json.dumps(logged)


def test_limits_of_size_and_time_and_the_token(lines):
    ended = threading.Event()
    client, _ = _client(ended)
    assert client.post("/echo/a", content=b"a" * 64, headers=BEARER).json() == {"bytes": 64}
    for content in (b"a" * 65, iter([b"a" * 60, b"b" * 60]), b"a" * 5000):
        refused = client.post("/echo/a", content=content, headers=BEARER)
        assert refused.status_code == 413 and "64" in refused.json()["error"]["message"]
    late = client.post("/slow/a", headers=BEARER)
    assert late.status_code == 504 and ended.is_set()
    # The limit is that of the time until an answer begins.
    assert client.post("/stream/a", headers=BEARER).text == "0123"
    for headers in ({}, {"authorization": "Bearer another"}, {"authorization": "a secret"}):
        refused = client.post("/echo/a", headers=headers)
        assert refused.status_code == 401 and refused.headers["www-authenticate"] == "Bearer"
    assert client.get("/healthz").status_code == 200


@pytest.mark.parametrize("body", [{"body": b"", "more_body": False}, {"body": b"half", "more_body": True}])
def test_the_work_for_a_client_that_goes_away_ends(lines, body):
    ended = threading.Event()
    client, metrics = _client(ended)
    messages = iter([{"type": "http.request", **body}, {"type": "http.disconnect"}])
    sent = []

    async def receive():
        await asyncio.sleep(0.01)
        return next(messages)

    async def send(message):
        sent.append(message)

    scope = {
        "type": "http",
        "method": "POST",
        "path": "/slow/a",
        "headers": [(b"authorization", b"Bearer a secret")],
        "query_string": b"",
        "root_path": "",
    }
    asyncio.run(client.app(scope, receive, send))
    assert ended.is_set() is not body["more_body"] and not sent
    assert [each["event"] for each in lines()] == ["request"]
    assert 'route="/slow/{rest}",status="499"' in metrics.text().decode()
