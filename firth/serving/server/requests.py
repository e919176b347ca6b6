"""Every request over HTTP: its id, its token, its limits, its metrics and its line in the log."""

import asyncio
import hmac
import json
import logging
import re
import time
import uuid
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from firth.serving.server.errors import RequestError
from firth.serving.server.metrics import Metrics
from firth.serving.server.playground import page
from firth.serving.server.settings import ServerSettings

LOG = logging.getLogger("firth.server")
# Orchestrators ask these without a token, and browsers the page that asks for it.
OPEN = ("/healthz", "/readyz", *page.open_paths())
_ID_HEADER = b"x-request-id"
_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_BEARER = "Bearer "


def has_token(given: str, token: str | None) -> bool:
    """Returns whether the value of a header `Authorization` bears a token.

    Example:

    >>> has_token("Bearer secret", "secret"), has_token("", None), has_token("secret", "secret")
    (True, True, False)
    """
    if token is None:
        return True
    own = given.removeprefix(_BEARER) if given.startswith(_BEARER) else ""
    return hmac.compare_digest(own.encode(), token.encode())


class RequestMiddleware:
    """Wraps the application.

    Args:
        app: The application.
        settings: Settings of the server, with the limits and the token.
        metrics: Counts of the requests.
    """

    def __init__(self, app: ASGIApp, settings: ServerSettings, metrics: Metrics) -> None:
        self._app, self._settings, self._metrics = app, settings, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        given = headers.get(_ID_HEADER, b"").decode("latin-1")
        scope["request_id"] = given if _ID.fullmatch(given) else uuid.uuid4().hex
        answer = _Answer(send, scope["request_id"])
        begun = time.perf_counter()
        try:
            await self._answer(scope, receive, answer, headers)
        finally:
            self._count(scope, answer, time.perf_counter() - begun)

    async def _answer(self, scope: Scope, receive: Receive, answer: "_Answer", headers: Any) -> None:
        try:
            if scope["path"] not in OPEN:
                authorization = headers.get(b"authorization", b"").decode("latin-1")
                if not has_token(authorization, self._settings.token):
                    raise RequestError("the header Authorization bears no valid token", 401)
            limited = _limited(receive, headers, self._settings.max_request_bytes)
            await asyncio.wait_for(self._app(scope, limited, answer), self._settings.request_seconds)
        except RequestError as error:
            await self._refuse(scope, receive, answer, error)
        except asyncio.TimeoutError:
            seconds = f"{self._settings.request_seconds:g}"
            await self._refuse(
                scope, receive, answer, RequestError(f"no answer within {seconds} seconds", 504)
            )
        except Exception:
            LOG.exception("%s", json.dumps({"id": scope["request_id"], "event": "error"}))
            await self._refuse(scope, receive, answer, RequestError("the server failed; see its log", 500))

    async def _refuse(self, scope: Scope, receive: Receive, answer: "_Answer", error: RequestError) -> None:
        # A stream that has begun can only be cut.
        if not answer.status:
            await refusal(scope["path"], error)(scope, receive, answer)

    def _count(self, scope: Scope, answer: "_Answer", seconds: float) -> None:
        route = getattr(scope.get("route"), "path", "unknown")
        status = answer.status or 499
        self._metrics.request(route, status, seconds)
        line = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "id": scope["request_id"],
            "method": scope["method"],
            "route": route,
            "status": status,
            "seconds": round(seconds, 4),
            "bytes": answer.bytes,
        }
        LOG.info("%s", json.dumps(line))


class _Answer:
    """Sends an answer, and keeps its status and its size; 0 before it has begun."""

    def __init__(self, send: Send, request_id: str) -> None:
        self._send, self._id = send, request_id
        self.status = self.bytes = 0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            message = {**message, "headers": [*message["headers"], (_ID_HEADER, self._id.encode())]}
        self.bytes += len(message.get("body", b""))
        await self._send(message)


def _limited(receive: Receive, headers: Any, most: int) -> Receive:
    """Returns the function that reads a body, which raises once it is too long."""
    error = RequestError(f"the request has more than {most:,} bytes", 413)
    length = headers.get(b"content-length", b"")
    if length.isdigit() and int(length) > most:
        raise error
    read = 0

    async def limited() -> Message:
        nonlocal read
        message = await receive()
        read += len(message.get("body", b""))
        if read > most:
            raise error
        return message

    return limited


def refusal(path: str, error: RequestError) -> JSONResponse:
    """Returns the answer to a request that is refused: OpenAI's form, or TF Serving's below its paths."""
    headers = {"WWW-Authenticate": "Bearer"} if error.status == 401 else {}
    if error.status == 429:
        headers["Retry-After"] = "1"
    if path.startswith("/v1/models/"):
        return JSONResponse({"error": error.message}, error.status, headers)
    kind = "invalid_request_error" if error.status < 500 else "server_error"
    said = {"message": error.message, "type": kind, "param": error.parameter, "code": None}
    return JSONResponse({"error": said}, error.status, headers)


async def refused(request: Request, error: Exception) -> JSONResponse:
    """Answers a request that is refused."""
    assert isinstance(error, RequestError)
    return refusal(request.url.path, error)
