"""Models as OpenAI's API lists them, and clients that ask for one where TF Serving has its status."""

from typing import Any

from starlette.requests import Request

from firth.serving.server.versions import ModelVersion


def model_card(version: ModelVersion) -> dict[str, Any]:
    """Returns a model as OpenAI's API lists it."""
    return {
        "id": version.name,
        "object": "model",
        "created": version.changed,
        "owned_by": "firth",
    }


def is_of_client(request: Request) -> bool:
    """Returns true for a request of one of OpenAI's own clients, all of which say their language."""
    return "x-stainless-lang" in request.headers or request.headers.get("user-agent", "").startswith(
        "OpenAI/"
    )
