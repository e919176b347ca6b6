"""Text in and text out by the API of responses, and clients that go away."""

import asyncio
import json
import socket
import threading
import time

import pytest
import uvicorn

from firth.serving.server.app import make_app
from firth.serving.server.settings import ServerSettings
from tests.serving.server.openai.completions_test import written
from tests.serving.server.openai.served import WRITER, client_of, http_of, models_of


def test_a_text_and_its_stream(made_once):
    client, expected = client_of(made_once), written()
    asked = {"model": WRITER, "input": "the fox", "max_output_tokens": 4, "temperature": 0}
    whole = client.responses.create(**asked, metadata={"a": "b"}, instructions=None)
    assert whole.output_text == expected.text
    assert (whole.usage.input_tokens, whole.usage.output_tokens) == (3, len(expected.ids))
    assert whole.metadata == {"a": "b"}
    is_full = expected.ended == "length"
    assert whole.status == ("incomplete" if is_full else "completed")
    events = list(client.responses.create(**asked, stream=True))
    assert [each.sequence_number for each in events] == list(range(len(events)))
    assert [each.type for each in events[:4]] == [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.content_part.added",
    ]
    deltas = [each.delta for each in events if each.type == "response.output_text.delta"]
    assert "".join(deltas) == expected.text and len(deltas) > 1
    assert events[-1].type == f"response.{whole.status}"
    assert events[-1].response.output_text == expected.text
    assert events[-1].response.usage == whole.usage


def test_a_literal_answer(made_once):
    found = http_of(made_once).post(
        "/v1/responses",
        json={
            "model": WRITER,
            "input": "the fox",
            "max_output_tokens": 1,
            "temperature": 0,
            "logit_bias": {"8": 100},
        },
    )
    made = found.json()
    assert made.pop("id").startswith("resp-") and made.pop("created_at") > 1_700_000_000
    assert made["output"][0].pop("id").startswith("msg-")
    assert made == {
        "object": "response",
        "status": "incomplete",
        "error": None,
        "incomplete_details": {"reason": "max_output_tokens"},
        "instructions": None,
        "max_output_tokens": 1,
        "metadata": {},
        "model": WRITER,
        "output": [
            {
                "type": "message",
                "role": "assistant",
                "status": "incomplete",
                "content": [{"type": "output_text", "text": " over", "annotations": [], "logprobs": []}],
            }
        ],
        "parallel_tool_calls": False,
        "previous_response_id": None,
        "store": False,
        "temperature": 0,
        "text": {"format": {"type": "text"}},
        "tool_choice": "none",
        "tools": [],
        "top_p": None,
        "truncation": "disabled",
        "usage": {
            "input_tokens": 3,
            "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens": 1,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 4,
        },
        "user": None,
    }


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("instructions", "Be short."),
        ("text", {"format": {"type": "json_schema", "name": "a", "schema": {"not": {}}}}),
        ("text", {"verbosity": "low"}),
        ("stream_options", {"include_obfuscation": False}),
    ],
)
def test_what_a_model_of_texts_does_not_honour(made_once, parameter, value):
    asked = {"model": WRITER, "input": "the fox", parameter: value}
    found = http_of(made_once).post("/v1/responses", json=asked)
    assert (found.status_code, found.json()["error"]["param"]) == (400, parameter)


class _Endless:
    """Streams of slots that write until they are cancelled; counts them."""

    max_queued = 2

    def __init__(self, described):
        self.described, self.given, self.cancelled = described, 0, 0

    def submit(self, prompt, timeout=None):
        self.given += 1
        return _EndlessStream(self)


class _EndlessStream:
    def __init__(self, queue):
        self._queue, self._is_cancelled = queue, False

    def cancel(self):
        self._queue.cancelled += not self._is_cancelled
        self._is_cancelled = True

    async def __aiter__(self):
        from firth.serving.slots.batcher import SlotText

        text = ""
        while True:
            await asyncio.sleep(0.005)
            text += "a"
            yield SlotText(0, text, (5,) * len(text), (-1.0,) * len(text))


@pytest.mark.parametrize("stream", [False, True])
def test_a_client_that_goes_away_frees_its_slots(made_once, monkeypatch, stream):
    """Over a real connection, which is closed before the text ends."""
    models = models_of(made_once)
    with models.lease(WRITER) as version:
        endless = _Endless(version.slots.described)
        monkeypatch.setattr(version, "slots", endless)
        app = make_app(models, ServerSettings())
        server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error", lifespan="off"))
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        body = json.dumps({"model": WRITER, "prompt": [2, 5], "n": 2, "stream": stream}).encode()
        head = f"POST /v1/completions HTTP/1.1\r\nHost: a\r\nContent-Length: {len(body)}\r\n\r\n".encode()
        with socket.create_connection(("127.0.0.1", port)) as connection:
            connection.sendall(head + body)
            if stream:
                assert b"200 OK" in connection.recv(4096)
            else:
                until(lambda: endless.given == 2)
        until(lambda: endless.cancelled == 2)
        server.should_exit = True
        thread.join()


def until(holds):
    for _ in range(1000):
        if holds():
            return
        time.sleep(0.01)
    raise AssertionError("it does not hold after ten seconds")
