"""POST /v1/embeddings: vectors of texts, or of the texts of tokens."""

import base64
from collections.abc import Sequence
from typing import Annotated, Any, Literal

import numpy as np
import pydantic
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from firth.serving.server.asking import MOST_TEXTS, answers, has
from firth.serving.server.errors import RequestError
from firth.serving.server.json_requests import Body, read_body
from firth.serving.server.models import Models
from firth.serving.server.pieces import Pieces
from firth.serving.server.versions import ModelVersion


class EmbeddingBody(Body):
    """Body of a request for vectors."""

    model: Annotated[str, pydantic.Field(min_length=1)]
    """Name of the model."""
    input: Annotated[
        str | list[int] | list[str] | list[list[int]], pydantic.Field(union_mode="left_to_right")
    ]
    """A text, its tokens, or a list of either."""
    encoding_format: Literal["float", "base64"] | None = None
    """Form of the vectors: numbers, or their bytes as float32 of the smaller end first, in base64."""
    dimensions: int | None = None
    """Number of dimensions; the model has one number alone."""
    user: str | None = None
    """Name of an end user."""


async def embeddings(request: Request, models: Models) -> Response:
    """Answers a request for vectors."""
    body = await read_body(EmbeddingBody, request)
    with models.lease(body.model) as version:
        has(version, "embed")
        texts = await _texts(body, version)
        found = await answers(version, "embed", texts, "input")
    vectors = [np.asarray(each["embedding"], np.float32) for each in found]
    if body.dimensions not in (None, len(vectors[0])):
        raise RequestError(
            f"dimensions: {body.dimensions}; the vectors of {body.model} have {len(vectors[0])}",
            400,
            "dimensions",
        )
    read = sum(each["tokens_read"] for each in found)
    return JSONResponse(
        {
            "object": "list",
            "data": [
                {"object": "embedding", "index": number, "embedding": _formed(each, body.encoding_format)}
                for number, each in enumerate(vectors)
            ],
            "model": body.model,
            "usage": {"prompt_tokens": read, "total_tokens": read},
        }
    )


async def _texts(body: EmbeddingBody, version: ModelVersion) -> list[str]:
    given: Any = body.input
    rows: Sequence[Any] = given if isinstance(given, list) and not _is_token(given[:1]) else [given]
    if not rows or not all(rows):
        raise RequestError("input: it is empty, or a text of it is", 400, "input")
    if len(rows) > MOST_TEXTS:
        raise RequestError(f"input: {len(rows):,} texts; at most {MOST_TEXTS:,}", 400, "input")
    if isinstance(rows[0], str):
        return list(rows)
    if version.slots is None:
        raise RequestError(
            f"input: {version.name} reads texts: it was exported without `detokenize`, which tokens need",
            400,
            "input",
        )
    pieces = Pieces(version)
    return [await pieces.text(pieces.known(each, "input")) for each in rows]


def _is_token(first: Sequence[Any]) -> bool:
    return bool(first) and isinstance(first[0], int)


def _formed(vector: Any, form: str | None) -> Any:
    if form == "base64":
        return base64.b64encode(vector.astype("<f4").tobytes()).decode()
    return vector.tolist()
