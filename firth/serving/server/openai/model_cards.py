"""Models as OpenAI's API lists them, and clients that ask for one where TF Serving has its status."""

from typing import Any

from starlette.requests import Request

from firth import storage
from firth.serving.server.versions import ModelVersion


def model_card(version: ModelVersion) -> dict[str, Any]:
    """Returns a model as OpenAI's API lists it."""
    _, changed = storage.stamp_of(f"{version.path}/saved_model.pb")
    return {
        "id": version.name,
        "object": "model",
        "created": changed // 10**9,
        "owned_by": "firth",
    }


def is_of_client(request: Request) -> bool:
    """Returns true for a request of one of OpenAI's own clients, all of which say their language."""
    return "x-stainless-lang" in request.headers or request.headers.get("user-agent", "").startswith(
        "OpenAI/"
    )
