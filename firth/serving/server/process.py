"""The process of a server: HTTP and gRPC until it is asked to end."""

import asyncio
import contextlib
import signal
import socket
import ssl
import threading
import time
from collections.abc import Callable, Coroutine, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from types import FrameType
from typing import Any

import grpc
import uvicorn
from grpc_health.v1 import health, health_pb2, health_pb2_grpc

from firth import storage
from firth.serving.server.announcements import Announcement
from firth.serving.server.app import ROOMS, Routes, make_app
from firth.serving.server.logs import log, log_failure, request_id
from firth.serving.server.metrics import Metrics
from firth.serving.server.models import Models
from firth.serving.server.requests import has_token
from firth.serving.server.settings import ServerSettings
from firth.serving.server.sources import ModelSource
from firth.serving.server.tensorflow_serving.grpc_services import add_services

_GRPC_THREADS = 16
# From the server of gRPC and the models: it adds services.
AddServices = Callable[[grpc.Server, Models], None]
SERVICES: tuple[AddServices, ...] = (add_services,)
_HEALTH = f"/{health.SERVICE_NAME}/"


class CallInterceptor(grpc.ServerInterceptor):
    """Interceptor around all services.

    Args:
        settings: Settings of the server.
        metrics: Metrics of the server.
    """

    def __init__(self, settings: ServerSettings, metrics: Metrics) -> None:
        self._settings, self._metrics = settings, metrics

    def intercept_service(self, continuation: Callable[[Any], Any], details: Any) -> Any:
        """Returns the handler of a call, with what all calls go through."""
        handler = continuation(details)
        # Others are streams of the health service, or methods that there are not.
        if handler is None or handler.unary_unary is None:
            return handler
        given = {key: value for key, value in details.invocation_metadata if isinstance(value, str)}
        is_open = details.method.startswith(_HEALTH)

        def answered(request: Any, context: grpc.ServicerContext) -> Any:
            began, number = time.monotonic(), request_id(given.get("x-request-id"))
            context.set_trailing_metadata((("x-request-id", number),))
            try:
                if not is_open and not has_token(given.get("authorization", ""), self._settings.token):
                    context.abort(
                        grpc.StatusCode.UNAUTHENTICATED, "the metadata authorization bears no valid token"
                    )
                answer = handler.unary_unary(request, context)
            except Exception:
                self._ended(details.method, context.code() or grpc.StatusCode.INTERNAL, began, number)
                raise
            self._ended(details.method, context.code() or grpc.StatusCode.OK, began, number)
            return answer

        return grpc.unary_unary_rpc_method_handler(
            answered, handler.request_deserializer, handler.response_serializer
        )

    def _ended(self, method: str, code: Any, began: float, number: str) -> None:
        seconds = time.monotonic() - began
        status = code.name if isinstance(code, grpc.StatusCode) else str(code)
        self._metrics.request(method, status, seconds)
        log(
            "request",
            request_id=number,
            protocol="grpc",
            route=method,
            status=status,
            seconds=round(seconds, 6),
        )


class ServerError(Exception):
    """The server cannot start, for a reason that its user can mend."""


class ServerProcess:
    """A server of models. Ports are taken before models are loaded.

    Args:
        sources: The models.
        settings: Settings.
        rooms: Functions that make routes of HTTP.

    Attributes:
        models: The models.
        port: Port of HTTP.
        grpc_port: Port of gRPC; None without.

    Raises:
        ServerError: if a port is taken, TLS files do not fit, or a model cannot be served.
    """

    def __init__(
        self, sources: Sequence[ModelSource], settings: ServerSettings, rooms: Sequence[Routes] = ROOMS
    ) -> None:
        self._settings = settings
        self._check_tls()
        self._socket = _listening(settings.host, settings.port)
        self.port: int = self._socket.getsockname()[1]
        metrics = Metrics()
        self._ended = threading.Event()
        self.grpc_port: int | None = None
        self._health = health.HealthServicer()
        self._grpc = None if settings.grpc_port is None else self._grpc_on(settings.grpc_port, metrics)
        try:
            self.models = Models(sources, settings, metrics)
        except (FileNotFoundError, ValueError) as error:
            self._socket.close()
            if self._grpc is not None:
                self._grpc.stop(None)
            raise ServerError(str(error)) from None
        if self._grpc is not None:
            self._start(self._grpc)
        self._announcement = Announcement(self.address, settings.token is not None)
        self._http = _Http(
            uvicorn.Config(
                make_app(self.models, settings, metrics, rooms, self._announcement),
                http="h11",
                ws="none",
                loop="asyncio",
                log_config=None,
                access_log=False,
                server_header=False,
                lifespan="off",
                ssl_certfile=settings.tls_certificate,
                ssl_keyfile=settings.tls_key,
                timeout_graceful_shutdown=round(settings.drain_seconds),
            ),
            self._drain,
        )

    @property
    def address(self) -> str:
        """Address of HTTP, for a client on this machine."""
        scheme = "http" if self._settings.tls_certificate is None else "https"
        host = "127.0.0.1" if self._settings.host == "0.0.0.0" else self._settings.host
        return f"{scheme}://{f'[{host}]' if ':' in host else host}:{self.port}"

    def run(self) -> None:
        """Serves until SIGINT or SIGTERM, and then finishes what was taken."""
        log("serving", address=self.address, grpc_port=self.grpc_port, models=list(self.models.names))
        with self._announced(), self._reloading():
            self._http.run(sockets=[self._socket])
        self.models.close()
        log("ended")

    def stop(self) -> None:
        """Ends `run` in another thread."""
        self._http.should_exit = True

    async def _drain(self) -> None:
        """Finishes the calls of gRPC, while HTTP finishes its requests."""
        log("draining", seconds=self._settings.drain_seconds)
        # No version is loaded any more.
        self._ended.set()
        self._withdraw()
        self._health.enter_graceful_shutdown()
        if self._grpc is not None:
            stopped = self._grpc.stop(self._settings.drain_seconds)
            await asyncio.get_running_loop().run_in_executor(None, stopped.wait)

    @contextlib.contextmanager
    def _announced(self) -> Iterator[None]:
        """Lets commands on this machine find the server meanwhile."""
        self.models.on_reloaded = self._announce
        self._announce()
        try:
            yield
        finally:
            self._withdraw()

    def _announce(self) -> None:
        try:
            self._announcement.write(self.models.loaded)
        except OSError as error:
            # Commands load the model themselves then.
            log_failure(error)

    def _withdraw(self) -> None:
        with contextlib.suppress(OSError):
            self._announcement.remove()

    @contextlib.contextmanager
    def _reloading(self) -> Iterator[None]:
        thread = threading.Thread(target=self._reload, daemon=True)
        if self._settings.reload_seconds:
            thread.start()
        try:
            yield
        finally:
            self._ended.set()
            if thread.ident is not None:
                thread.join()

    def _reload(self) -> None:
        while not self._ended.wait(self._settings.reload_seconds):
            try:
                self.models.reload()
            except Exception as error:
                # A bucket that is away for a moment ends nothing.
                log_failure(error)

    def _grpc_on(self, port: int, metrics: Metrics) -> grpc.Server:
        """Returns a server of gRPC that has its port, and answers nothing yet."""
        size = ("grpc.max_receive_message_length", self._settings.max_request_bytes)
        server = grpc.server(
            ThreadPoolExecutor(_GRPC_THREADS),
            interceptors=[CallInterceptor(self._settings, metrics)],
            # Two servers may not share a port in silence.
            options=[size, ("grpc.so_reuseport", 0)],
        )
        host = self._settings.host
        address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        try:
            if self._settings.tls_certificate is None:
                self.grpc_port = server.add_insecure_port(address)
            else:
                self.grpc_port = server.add_secure_port(address, self._credentials())
        except RuntimeError:
            self._socket.close()
            raise ServerError(f"port {port} of {self._settings.host} is taken; choose another one") from None
        return server

    def _start(self, server: grpc.Server) -> None:
        for add in SERVICES:
            add(server, self.models)
        health_pb2_grpc.add_HealthServicer_to_server(self._health, server)
        self._health.set("", health_pb2.HealthCheckResponse.SERVING)
        server.start()

    def _credentials(self) -> grpc.ServerCredentials:
        contents = []
        for path in (self._settings.tls_key, self._settings.tls_certificate):
            with storage.open_file(str(path), "rb") as file:
                contents.append(file.read())
        return grpc.ssl_server_credentials([tuple(contents)])

    def _check_tls(self) -> None:
        certificate, key = self._settings.tls_certificate, self._settings.tls_key
        if (certificate is None) != (key is None):
            raise ServerError("a certificate and its key are given together")
        if certificate is None:
            return
        try:
            ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key)
        except ssl.SSLError as error:
            reason = (error.reason or str(error)).replace("_", " ").lower()
            raise ServerError(f"{certificate} and {key} do not fit: {reason}") from None
        except OSError as error:
            raise ServerError(f"{certificate} or {key}: {error.strerror}") from None


class _Http(uvicorn.Server):
    """Uvicorn, which ends with status 0 after a signal, and drains gRPC at the same time."""

    def __init__(self, config: uvicorn.Config, drain: Callable[[], Coroutine[Any, Any, None]]) -> None:
        super().__init__(config)
        self._drain = drain

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Takes SIGINT and SIGTERM as requests to end."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {each: signal.signal(each, self._end) for each in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for each, handler in before.items():
                signal.signal(each, handler)

    def _end(self, number: int, frame: FrameType | None) -> None:
        # The second Ctrl-C waits for nobody.
        self.force_exit = self.should_exit and number == signal.SIGINT
        self.should_exit = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Finishes what was taken."""
        await asyncio.gather(self._drain(), super().shutdown(sockets))


def _listening(host: str, port: int) -> socket.socket:
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        listening = socket.create_server((host, port), family=family)
    except socket.gaierror:
        raise ServerError(f"there is no address {host}") from None
    except OSError as error:
        reason = "is taken" if error.errno in (98, 48) else f"cannot be used: {error.strerror}"
        raise ServerError(f"port {port} of {host} {reason}; choose another one") from None
    # asyncio does so only for sockets that name their protocol. Without it, a body waits 40 ms until the
    # client has acknowledged the headers.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening
