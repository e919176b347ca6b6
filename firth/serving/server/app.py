"""The application of a server: the routes of all its rooms, health and metrics."""

from collections.abc import Callable, Sequence
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from firth.serving.server import command_requests, openapi, tokens
from firth.serving.server.announcements import Announcement
from firth.serving.server.encoders import routes as encoders
from firth.serving.server.errors import RequestError
from firth.serving.server.metrics import Metrics
from firth.serving.server.models import Models
from firth.serving.server.openai import routes as openai
from firth.serving.server.playground import page
from firth.serving.server.requests import RequestMiddleware, refusal, refused
from firth.serving.server.settings import ServerSettings
from firth.serving.server.tensorflow_serving import rest

# From the models and the settings to the routes of a room.
Routes = Callable[[Models, ServerSettings], Sequence[BaseRoute]]
ROOMS: tuple[Routes, ...] = (
    openai.routes,
    encoders.routes,
    tokens.routes,
    openapi.routes,
    command_requests.routes,
    rest.routes,
    page.routes,
)


def make_app(
    models: Models,
    settings: ServerSettings,
    metrics: Metrics | None = None,
    rooms: Sequence[Routes] = ROOMS,
    announcement: Announcement | None = None,
) -> Starlette:
    """Returns the application.

    Args:
        models: The models.
        settings: Settings of the server.
        metrics: Counts of the requests; None makes new ones.
        rooms: Functions that make routes.
        announcement: File by which commands find the server; None without one.
    """
    counted = Metrics() if metrics is None else metrics

    async def ready(request: Request) -> Response:
        missing = [name for name in models.names if not models.is_available(name)]
        said: dict[str, Any] = {"status": "loading" if missing else "ok", "models": list(models.names)}
        return JSONResponse(said, 503 if missing else 200)

    async def metrics_text(request: Request) -> Response:
        return Response(counted.text(), media_type="text/plain; version=0.0.4")

    routes: list[BaseRoute] = [
        Route("/healthz", _healthy),
        Route("/readyz", ready),
        Route("/metrics", metrics_text),
    ]
    if announcement is not None:
        routes.append(command_requests.challenge_route(announcement))
    for room in rooms:
        routes += room(models, settings)
    return Starlette(
        routes=routes,
        exception_handlers={RequestError: refused, HTTPException: _unrouted},
        middleware=[Middleware(RequestMiddleware, settings=settings, metrics=counted)],
    )


async def _unrouted(request: Request, error: Exception) -> Response:
    """Answers a request of no address, or of another method, in the form of other refusals."""
    assert isinstance(error, HTTPException)
    method, path = request.method, request.url.path[:256]
    if error.status_code == 405:
        answer = refusal(path, RequestError(f"{path} is not asked by {method}", 405))
    else:
        problem = f"there is no address {path}; /openapi.json has those that there are"
        answer = refusal(path, RequestError(problem, error.status_code))
    answer.headers.update(error.headers or {})
    return answer


async def _healthy(request: Request) -> Response:
    return JSONResponse({"status": "ok"})
