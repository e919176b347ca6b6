"""The way of each request of gRPC: its id, token, count and line in the log."""

import time
from collections.abc import Callable
from typing import Any

import grpc
from grpc_health.v1 import health

from firth.serving.server.logs import log, request_id
from firth.serving.server.metrics import Metrics
from firth.serving.server.requests import has_token
from firth.serving.server.settings import ServerSettings

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
