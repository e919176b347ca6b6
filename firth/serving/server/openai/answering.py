"""Answers over HTTP: server-sent events, and clients that go away."""

import asyncio
import json
import secrets
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from typing import Any, TypeAlias

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from firth.serving.server.errors import RequestError
from firth.serving.server.requests import refusal

Handler: TypeAlias = Callable[[Request], Awaitable[Response]]
# The type of a server-sent event, empty for none, and its JSON.
Event: TypeAlias = tuple[str, dict[str, Any]]

# As nginx logs it; nobody reads the answer.
_CLIENT_GONE = 499
# Below it errors have OpenAI's form.
_PATH = "/v1/"


def while_connected(handler: Handler) -> Handler:
    """Returns a handler that gives its work up when the client goes away.

    Args:
        handler: Function from a request to its answer, or to a stream of which the first event is there.
    """

    async def answered(request: Request) -> Response:
        # All messages after the body are about the connection.
        await request.body()
        return await _while_connected(request, handler(request))

    return answered


async def _while_connected(request: Request, work: Awaitable[Response]) -> Response:
    made, left = asyncio.ensure_future(work), asyncio.ensure_future(_gone(request))
    try:
        await asyncio.wait([made, left], return_when=asyncio.FIRST_COMPLETED)
        return made.result() if made.done() else Response(status_code=_CLIENT_GONE)
    finally:
        for task in (made, left):
            task.cancel()
        await asyncio.gather(made, left, return_exceptions=True)


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


class Started:
    """Events of which the first one is there: a request that is refused has no stream.

    Args:
        first: The first event.
        rest: All others.
    """

    def __init__(self, first: Event, rest: AsyncGenerator[Event, None]) -> None:
        self._first: list[Event] = [first]
        self._rest = rest

    @classmethod
    async def of(cls, events: AsyncGenerator[Event, None]) -> "Started":
        """Waits for the first event.

        Raises:
            RequestError: if the request is refused.
        """
        return cls(await anext(events), events)

    def __aiter__(self) -> "Started":
        return self

    async def __anext__(self) -> Event:
        return self._first.pop() if self._first else await anext(self._rest)

    async def aclose(self) -> None:
        """Ends the source of the events."""
        await self._rest.aclose()


class EventStream(StreamingResponse):
    """Server-sent events, whose source is closed when the client goes away.

    Args:
        events: Each event, its type or an empty text first.
        ending: Text of the last event, which is not JSON; empty for none.
    """

    def __init__(self, events: Started, ending: str = "") -> None:
        self._events, self._ending = events, ending
        super().__init__(self._lines(), media_type="text/event-stream", headers={"cache-control": "no-cache"})

    async def _lines(self) -> AsyncIterator[str]:
        try:
            async for name, event in self._events:
                yield event_text(name, json.dumps(event, ensure_ascii=False))
        except RequestError as error:
            # The status has been sent.
            yield event_text("", bytes(refusal(_PATH, error).body).decode())
            return
        if self._ending:
            yield event_text("", self._ending)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Sends the events."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            await self._events.aclose()


def event_text(name: str, data: str) -> str:
    r"""Returns an event of a stream.

    Example:

    >>> event_text("", "[DONE]"), event_text("ping", "{}")
    ('data: [DONE]\n\n', 'event: ping\ndata: {}\n\n')
    """
    return f"event: {name}\ndata: {data}\n\n" if name else f"data: {data}\n\n"


def new_id(prefix: str) -> str:
    """Returns a new name of an answer, such as `cmpl-...`."""
    return f"{prefix}-{secrets.token_hex(12)}"
