"""Answers of a model's signatures on texts, for requests over HTTP."""

import asyncio
import functools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy.typing as npt
from starlette.concurrency import run_in_threadpool

from firth.serving.server.errors import RequestError
from firth.serving.server.versions import ModelVersion
from firth.serving.signature_client import plain_rows

# Texts of one request.
MOST_TEXTS = 2_048
_FEW_NUMBERS, _FEW_TEXTS = 10_000, 16


def has(version: ModelVersion, *names: str) -> str:
    """Returns the first of some signatures on texts that a model has.

    Raises:
        RequestError: 404 with those that it has if it lacks them all.
    """
    known: Mapping[str, Any] = version.description.get("signatures", {})
    for name in names:
        if name in known:
            return name
    given = ", ".join(known) or "no signature on texts"
    raise RequestError(f"{version.name} has no signature {' or '.join(names)}; it has {given}", 404, "model")


async def computed(
    version: ModelVersion, signature: str, inputs: Mapping[str, npt.NDArray[Any]]
) -> dict[str, npt.NDArray[Any]]:
    """Returns the outputs of any signature, while other requests are answered.

    Args:
        version: Version of a model.
        signature: Name of the signature.
        inputs: Its inputs by name.

    Raises:
        RequestError: as `ModelVersion.submit` does.
    """
    return await asyncio.wrap_future(version.submit(signature, inputs))


async def answers(
    version: ModelVersion, name: str, texts: Sequence[Any], parameter: str, **others: Sequence[Any]
) -> list[dict[str, Any]]:
    """Returns the outputs of a signature for each text, as plain values.

    Args:
        version: Version of a model.
        name: Name of the signature.
        texts: Texts, or lists of words.
        parameter: Name of the parameter that has them.
        **others: A text for each text of every other input.

    Raises:
        RequestError: 404 if the model has no such signature; 400 for no texts, for too many, and for one
            that is longer than the model reads, of which nothing is answered instead of a part.
    """
    has(version, name)
    if not 0 < len(texts) <= MOST_TEXTS:
        raise RequestError(
            f"{parameter}: {len(texts)} texts; at least 1 and at most {MOST_TEXTS}", 400, parameter
        )
    try:
        # Another thread wakes up later than few texts take, and many would keep other requests waiting.
        request = functools.partial(version.client.request, name, texts, **others)
        asked, tensors = request() if len(texts) <= _FEW_TEXTS else await run_in_threadpool(request)
        outputs = await computed(version, asked, {key: each.numpy() for key, each in tensors.items()})
        # Few numbers become plain sooner than another thread wakes up.
        is_small = sum(each.size for each in outputs.values()) <= _FEW_NUMBERS
        if is_small:
            found = plain_rows(outputs, len(texts))
        else:
            found = await run_in_threadpool(plain_rows, outputs, len(texts))
    except ValueError as error:
        raise RequestError(f"{parameter}: {error}", 400, parameter) from None
    for number, each in enumerate(found):
        if each.get("truncated"):
            raise RequestError(
                f"{parameter}: text {number} has {each['tokens_given']:,} tokens, of which {version.name} "
                f"reads {each['tokens_read']:,}",
                400,
                parameter,
            )
    return found
