"""Every request over HTTP: its id, its token, its limits, its metrics and its line in the log."""

import asyncio
import contextlib
import hmac
import time

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from firth.serving.server.announcements import CHALLENGE
from firth.serving.server.errors import RequestError
from firth.serving.server.logs import log, log_failure, request_id
from firth.serving.server.metrics import Metrics
from firth.serving.server.playground import page
from firth.serving.server.settings import ServerSettings

# Orchestrators ask these without a token, commands before they send it, browsers for the page that asks it.
OPEN = ("/healthz", "/readyz", CHALLENGE, *page.open_paths())
# A client reads its refusal once its body is sent, so that a body that is too long is read on, up to a bound.
_DISCARDED = 16
# Status in logs and metrics of a request whose client went away.
_GONE = 499


def has_token(given: str, token: str | None) -> bool:
    """Returns whether the value of a header `Authorization` bears a token.

    Example:

    >>> has_token("Bearer secret", "secret"), has_token("", None), has_token("secret", "secret")
    (True, True, False)
    """
    if token is None:
        return True
    scheme, _, own = given.partition(" ")
    is_equal = hmac.compare_digest(own.strip().encode(errors="replace"), token.encode())
    return scheme.lower() == "bearer" and is_equal


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
        await _Exchange(self._app, self._settings, scope, receive, send).run(self._metrics)


class _Exchange:
    """One request and its answer."""

    def __init__(
        self,
        app: ASGIApp,
        settings: ServerSettings,
        scope: Scope,
        receive: Receive,
        send: Send,
    ) -> None:
        self._app, self._settings = app, settings
        self._scope, self._receive, self._send = scope, receive, send
        self._headers = Headers(scope=scope)
        self._id = request_id(self._headers.get("x-request-id"))
        scope.setdefault("state", {})["request_id"] = self._id
        self._status, self._received, self._sent = 0, 0, 0
        self._began, self._is_read, self._is_done = time.monotonic(), asyncio.Event(), False
        self._is_gone, self._is_late = False, False
        self._work: asyncio.Task[None] | None = None

    async def run(self, metrics: Metrics) -> None:
        try:
            given = self._headers.get("authorization", "")
            if self._scope["path"] not in OPEN and not has_token(given, self._settings.token):
                await self._refuse(RequestError("the header Authorization bears no valid token", 401))
            elif self._declared() > self._settings.max_request_bytes:
                await self._discard()
            else:
                await self._answer()
        finally:
            seconds = time.monotonic() - self._began
            # The path itself may be anything.
            route = getattr(self._scope.get("route"), "path", "unknown")
            status = self._status if self._is_done else _GONE
            metrics.request(route, status, seconds)
            log(
                "request",
                request_id=self._id,
                protocol="http",
                method=self._scope["method"],
                route=route,
                status=status,
                seconds=round(seconds, 6),
                bytes_received=self._received,
                bytes_sent=self._sent,
            )

    async def _answer(self) -> None:
        refused: RequestError | None = None
        seconds = self._settings.request_seconds
        self._work = asyncio.ensure_future(self._app(self._scope, self._limited, self._counted))
        watch = asyncio.ensure_future(self._watch())
        late = asyncio.get_running_loop().call_later(seconds, self._end_late)
        try:
            await self._work
        except asyncio.CancelledError:
            if self._is_late:
                refused = RequestError(f"the request took longer than {seconds:g} seconds", 504)
            elif not self._is_gone:
                raise
        except RequestError as error:
            refused = error
        except ClientDisconnect:
            # Before its body was whole.
            self._is_gone = True
        except Exception as error:
            log_failure(error, request_id=self._id)
            refused = RequestError(f"the server failed; its log has request {self._id}", 500)
        finally:
            late.cancel()
            watch.cancel()
        if refused is not None:
            await self._refuse(refused)

    def _declared(self) -> int:
        given = self._headers.get("content-length", "")
        return int(given) if given.isdecimal() else 0

    async def _discard(self) -> None:
        """Refuses a request by the length that it declares."""
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._read_on(), self._settings.request_seconds)

    async def _read_on(self) -> None:
        with contextlib.suppress(RequestError):
            while (await self._limited()).get("more_body"):
                pass
        await self._refuse(self._too_long())

    async def _watch(self) -> None:
        """Ends the work for a client that goes away."""
        await self._is_read.wait()
        while (await self._receive())["type"] != "http.disconnect":
            pass
        if not self._is_done:
            self._end_gone()

    def _end_gone(self) -> None:
        self._is_gone = True
        if self._work is not None:
            self._work.cancel()

    def _end_late(self) -> None:
        # A stream may take longer, as long as its client reads it and its texts have time.
        if not self._status and self._work is not None:
            self._is_late = True
            self._work.cancel()

    def _too_long(self) -> RequestError:
        return RequestError(f"the body has more than {self._settings.max_request_bytes:,} bytes", 413)

    async def _limited(self) -> Message:
        """Receives a part of the body; raises where it is longer than allowed."""
        most = self._settings.max_request_bytes
        # The body is over: what comes next is that the client is gone.
        if self._is_read.is_set():
            return await self._receive()
        while True:
            message = await self._receive()
            self._received += len(message.get("body", b""))
            is_over = not message.get("more_body", False)
            if is_over:
                self._is_read.set()
            if self._received <= most:
                return message
            if is_over or self._received > _DISCARDED * most:
                raise self._too_long()

    async def _counted(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._status = message["status"]
            MutableHeaders(scope=message)["x-request-id"] = self._id
        elif message["type"] == "http.response.body":
            self._sent += len(message.get("body", b""))
        # A client that reads nothing of its answer is gone.
        stalled = asyncio.get_running_loop().call_later(self._settings.request_seconds, self._end_gone)
        try:
            await self._send(message)
        finally:
            stalled.cancel()
        if message["type"] == "http.response.body" and not message.get("more_body", False):
            self._is_done = True

    async def _refuse(self, error: RequestError) -> None:
        # An answer that has begun can only be broken off.
        if self._status:
            return
        answer = refusal(self._scope["path"], error)
        with contextlib.suppress(OSError):
            await answer(self._scope, self._receive, self._counted)


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
