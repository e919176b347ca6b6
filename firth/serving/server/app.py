"""The application of a server: the routes of all its rooms, and errors as JSON."""

import json
from collections.abc import Callable, Sequence

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from firth.serving.server.errors import RequestError
from firth.serving.server.models import Models
from firth.serving.server.settings import ServerSettings

# From the models and the settings to the routes of a room.
Routes = Callable[[Models, ServerSettings], Sequence[BaseRoute]]
ROOMS: tuple[Routes, ...] = ()


def make_app(models: Models, settings: ServerSettings, rooms: Sequence[Routes] = ROOMS) -> Starlette:
    """Returns the application.

    Args:
        models: The models.
        settings: Settings of the server.
        rooms: Functions that make routes.
    """
    routes = [Route("/healthz", _healthy), Route("/readyz", _healthy)]
    for room in rooms:
        routes += room(models, settings)
    return Starlette(routes=routes, exception_handlers={RequestError: refused})


async def _healthy(request: Request) -> Response:
    return JSONResponse({"status": "ok"})


async def refused(request: Request, error: Exception) -> Response:
    """Returns the answer to a request that is refused, in OpenAI's form."""
    assert isinstance(error, RequestError)
    kind = "invalid_request_error" if error.status < 500 else "server_error"
    said = {"message": error.message, "type": kind, "param": error.parameter, "code": None}
    return Response(json.dumps({"error": said}), error.status, media_type="application/json")
